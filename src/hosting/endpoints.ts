import type { Catalog, Order } from '../core/catalog.ts';
import { Secret } from '../core/secret.ts';
import { isDeleted, type PowerAction } from '../core/server.ts';
import { type Fields, findText, findTime, findWhole } from './fields.ts';
import type { AcceptedPower, Created, Renewed } from './hosting-api.ts';
import { readCatalog } from './read-catalog.ts';
import { type PagingHeaders, readServers, type ServerPage } from './server-list.ts';
import { readChange, Unclear } from './verdict.ts';

/** `GET /catalog` (docs/hosting-api.md 4.5). */
export const fetchCatalog: Endpoint<Catalog> = {
  operation: 'fetch_catalog',
  method: 'GET',
  path: '/catalog',
  isPaid: false,
  read: readCatalog,
};

/** The path of the first page of `GET /servers` (docs/hosting-api.md 4.6). */
export const SERVERS_PATH = '/servers';

/** `GET /servers`: one page of the list, at the path that the previous page named (docs/hosting-api.md 4.13). */
export function listPage(path: string): Endpoint<ServerPage> {
  return {
    operation: 'list_servers',
    method: 'GET',
    path,
    isPaid: false,
    read: readServers,
  };
}

/**
 * `POST /servers`, proven by an ID and the root password (docs/hosting-api.md 4.7, 4.12). Money effect: pays the first month.
 */
export function createServer({ plan, location, image, label }: Order): Endpoint<Created> {
  const body = { plan, location, image, label };
  return {
    operation: 'create_server',
    method: 'POST',
    path: '/servers',
    body,
    isPaid: true,
    mayHoldSecret: true,
    read: (answer) => {
      const { record } = readChange(answer, body);
      const id = findWhole(record.id);
      // A number may have been altered: then its creator gets the answer as it came.
      const password = typeof record.root_password === 'string' ? findText(record.root_password) : undefined;
      const state = stateOf(record);
      // A password of stars or blanks is none.
      if (id === undefined || !password || /^[\s*•]*$/.test(password) || isDeleted({ state }))
        throw new Unclear('unexpected');
      return { id, state, rootPassword: new Secret(password) };
    },
  };
}

/**
 * `POST /servers/{id}/renew`, proven by the ID and a `paid_until`; the caller has to compare that with the one before
 * (docs/hosting-api.md 4.9, 4.12). Money effect: pays one more month.
 */
export function renewServer(id: number): Endpoint<Renewed> {
  return {
    operation: 'renew_server',
    method: 'POST',
    path: `/servers/${id}/renew`,
    isPaid: true,
    read: (answer) => {
      const { record } = readChange(answer, undefined, id);
      const paidUntil = findTime(record.paid_until);
      if (findWhole(record.id) !== id || paidUntil === undefined) throw new Unclear('unexpected');
      return { id, paidUntil };
    },
  };
}

/**
 * `POST /servers/{id}/start`, `stop` or `reboot`, proven by the ID and a state that the action can lead to (docs/hosting-api.md
 * 4.8, 4.12). Money effect: none.
 */
export function changePower(action: PowerAction, id: number): Endpoint<AcceptedPower> {
  return {
    operation: `${action}_server`,
    method: 'POST',
    path: `/servers/${id}/${action}`,
    isPaid: false,
    read: (answer) => {
      const { record, words } = readChange(answer, undefined, id);
      const state = stateOf(record);
      if (isDeleted({ state })) throw new Unclear('unexpected');
      // Only the state after a start is documented (docs/hosting-api.md 3.3).
      const isRunning = state.toLowerCase() === 'running';
      const fits = action === 'reboot' || isRunning === (action === 'start');
      if (findWhole(record.id) === id && state !== '' && fits) return { state };
      return words === undefined ? {} : { words };
    },
  };
}

/**
 * `DELETE /servers/{id}`; true if the answer proves it (docs/hosting-api.md 4.10, 4.12). Money effect: pays nothing, but the rest
 * of the paid month is lost.
 */
export function deleteServer(id: number): Endpoint<boolean> {
  return {
    operation: 'delete_server',
    method: 'DELETE',
    path: `/servers/${id}`,
    isPaid: false,
    read: (answer) => {
      const { record } = readChange(answer, undefined, id);
      return findWhole(record.id) === id && isDeleted({ state: stateOf(record) });
    },
  };
}

function stateOf({ state }: Fields): string {
  return findText(state)?.trim() ?? '';
}

export interface WireAnswer {
  readonly status: number;
  readonly retryAfter?: string;
  readonly text: string;
  /** The answer with every byte as one character; present if it was not UTF-8, which damages `text`. */
  readonly raw?: string;
  readonly paging?: PagingHeaders;
}

/** A 2xx answer whose text is JSON, or empty. */
export interface ReadableAnswer extends WireAnswer {
  /** Parsed by `parseJson`; undefined if the answer was empty. */
  readonly body: unknown;
}

/** A request to one endpoint (docs/hosting-api.md 4.2), and how to read its answer. */
export interface Endpoint<Answer> {
  /** Its name in logs and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Continues the base address. */
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
  /** Whether the request costs money: then an answer that proves nothing leaves open whether it was charged. */
  readonly isPaid: boolean;
  /** The answer may hold a root password, so an unreadable one is kept in a `Secret`. */
  readonly mayHoldSecret?: true;
  /** Reads a 2xx answer. @throws Unclear if it can't be read, or contradicts itself */
  readonly read: (answer: ReadableAnswer) => Answer;
}
