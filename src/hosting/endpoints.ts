import type { Catalog, Order } from '../domain/catalog.ts';
import type { PowerAction } from '../domain/server.ts';
import type { Created, Endpoint } from './endpoint.ts';
import { readCatalog } from './read-catalog.ts';
import { holdsMore, readChanged, readCreated, readRenewed } from './read-record.ts';
import { readServers, type ServerPage } from './read-servers.ts';

/** GET /catalog. */
export const fetchCatalog: Endpoint<Catalog> = {
  operation: 'fetch_catalog',
  method: 'GET',
  path: '/catalog',
  isPaid: false,
  read: ({ body, onUnreadable, ...answer }) => readCatalog(body, answer, onUnreadable),
};

/** GET /servers: the first page. */
export const SERVERS_PATH = '/servers';

/** GET /servers: one page, at the path that the previous page named. */
export function listPage(path: string): Endpoint<ServerPage> {
  return {
    operation: 'list_servers',
    method: 'GET',
    path,
    isPaid: false,
    read: ({ body, onUnreadable, ...answer }) => {
      const page = readServers(body, answer);
      if (page && page.unreadable > 0) onUnreadable(page.unreadable);
      return page;
    },
  };
}

/** GET /servers, from the first page. */
export const listServers = listPage(SERVERS_PATH);

/** POST /servers. Money effect: pays the first month. */
export function createServer({ plan, location, image, label }: Order): Endpoint<Created> {
  return {
    operation: 'create_server',
    method: 'POST',
    path: '/servers',
    body: { plan, location, image, label },
    isPaid: true,
    mayHoldSecret: true,
    read: ({ body, sealed }) => {
      const created = readCreated(body);
      const isLost = created?.rootPassword === undefined && holdsMore(body);
      return created && isLost && sealed ? { ...created, sealedAnswer: sealed } : created;
    },
  };
}

/** POST /servers/{id}/renew. Money effect: pays one more month. */
export function renewServer(id: number): Endpoint<{ id: number; paidUntil?: number }> {
  return {
    operation: 'renew_server',
    method: 'POST',
    path: `/servers/${id}/renew`,
    isPaid: true,
    read: ({ body }) => readRenewed(body, id),
  };
}

/** POST /servers/{id}/start, stop or reboot. */
export function changePower(action: PowerAction, id: number): Endpoint<{ id: number; state: string }> {
  return {
    operation: `${action}_server`,
    method: 'POST',
    path: `/servers/${id}/${action}`,
    isPaid: false,
    read: ({ body }) => readChanged(body, id),
  };
}

/** DELETE /servers/{id}. Money effect: none is moved, but the rest of the paid month is lost. */
export function deleteServer(id: number): Endpoint<{ id: number; state: string }> {
  return {
    operation: 'delete_server',
    method: 'DELETE',
    path: `/servers/${id}`,
    isPaid: false,
    read: ({ body }) => readChanged(body, id),
  };
}
