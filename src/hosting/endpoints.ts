import type { Catalog, Order } from '../domain/catalog.ts';
import type { Secret } from '../domain/secret.ts';
import type { PowerAction, Server } from '../domain/server.ts';
import {
  type OnUnreadable,
  parseChanged,
  parseCreated,
  parseRenewed,
  readCatalog,
  readServers,
} from './wire.ts';

/** One endpoint of the API document, section 4, with its arguments filled in. */
export interface Endpoint<Answer> {
  /** Its name in logs and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
  /** Money effect: an answer that proves nothing leaves open whether it was paid. */
  readonly isPaid: boolean;
  /** Reads the body of a 2xx answer (undefined: it was empty). Undefined when it can't be read. */
  readonly read: (body: unknown, onUnreadable: OnUnreadable) => Answer | undefined;
}

export interface Created {
  readonly id: number;
  readonly state: string;
  readonly rootPassword?: Secret<string>;
}

/** GET /catalog. */
export const fetchCatalog: Endpoint<Catalog> = {
  operation: 'fetch_catalog',
  method: 'GET',
  path: '/catalog',
  isPaid: false,
  read: readCatalog,
};

/** GET /servers. */
export const listServers: Endpoint<readonly Server[]> = {
  operation: 'list_servers',
  method: 'GET',
  path: '/servers',
  isPaid: false,
  read: readServers,
};

/** POST /servers. Money effect: pays the first month. */
export function createServer({ plan, location, image, label }: Order): Endpoint<Created> {
  return {
    operation: 'create_server',
    method: 'POST',
    path: '/servers',
    body: { plan, location, image, label },
    isPaid: true,
    read: parseCreated,
  };
}

/** POST /servers/{id}/renew. Money effect: pays one more month. */
export function renewServer(id: number): Endpoint<{ id: number; paidUntil?: number }> {
  return {
    operation: 'renew_server',
    method: 'POST',
    path: `/servers/${id}/renew`,
    isPaid: true,
    read: (body) => parseRenewed(body, id),
  };
}

/** POST /servers/{id}/start, stop or reboot. */
export function changePower(action: PowerAction, id: number): Endpoint<{ id: number; state: string }> {
  return {
    operation: `${action}_server`,
    method: 'POST',
    path: `/servers/${id}/${action}`,
    isPaid: false,
    read: (body) => parseChanged(body, id),
  };
}

/** DELETE /servers/{id}. Money effect: none is moved, but the rest of the paid month is lost. */
export function deleteServer(id: number): Endpoint<{ id: number; state: string }> {
  return {
    operation: 'delete_server',
    method: 'DELETE',
    path: `/servers/${id}`,
    isPaid: false,
    read: (body) => parseChanged(body, id),
  };
}
