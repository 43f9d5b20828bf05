import type { Catalog } from './catalog.ts';
import { ERROR_STATUS, type ErrorCode, type Operation } from './protocol.ts';
import type { WireServer } from './servers.ts';

/** What docs/hosting-api.md leaves open about answers, with every way this service can speak. The first is the default. */
export const DIALECT = {
  /** How a list that is longer than `pageSize` goes on; `none` lists everything at once (docs/hosting-api.md 4). */
  paging: ['none', 'next', 'link', 'cursor', 'has_more', 'total', 'partial'],
  passwordField: ['root_password', 'rootPassword'],
  /** What the answer to a delete says; the document shows `deleted` (docs/hosting-api.md 3). */
  deletedState: ['deleted', 'deleting', 'running'],
  /** What the answer to a start says; the document shows `running` (docs/hosting-api.md 3). */
  startedState: ['running', 'starting', 'stopped'],
  listsDeleted: ['no', 'yes'],
  /** `in_usd` names the currency of each plan, which isn't documented. */
  prices: ['documented', 'in_usd'],
} as const;

type Dialect = { readonly [Trait in keyof typeof DIALECT]: (typeof DIALECT)[Trait][number] };

/** How answers look, so that a client can be tried against every reading of docs/hosting-api.md. */
export interface AnswerStyle extends Dialect {
  /** Servers on a page, unless `paging` is `none`. */
  readonly pageSize: number;
}

/** A change of the style: what is left out stays as it is. */
export type AnswerStyleChange = Partial<AnswerStyle>;

/** As the document shows it, and `{"code": …}` where it is silent. */
export const DEFAULT_STYLE: AnswerStyle = {
  paging: 'none',
  passwordField: 'root_password',
  deletedState: 'deleted',
  startedState: 'running',
  listsDeleted: 'no',
  prices: 'documented',
  pageSize: 50,
};

/** The answer that carries a code; the field's name is an open question (docs/hosting-api.md 7). */
export function refusalOf(code: ErrorCode) {
  return { status: ERROR_STATUS[code], body: { code }, code };
}

/** Puts a correct answer into the current dialect; `writeList` does so for lists. */
export function speak(style: AnswerStyle, operation: Operation, body: object): unknown {
  const { root_password, ...record }: { readonly root_password?: string } = body;
  return {
    ...record,
    // The state that an answer says, where the service says another one than it has.
    ...(operation === 'delete' && { state: style.deletedState }),
    ...(operation === 'start' && { state: style.startedState }),
    ...(root_password !== undefined && { [style.passwordField]: root_password }),
  };
}

export function speakCatalog({ prices }: AnswerStyle, catalog: Catalog): Catalog {
  if (prices === 'documented') return catalog;
  return { ...catalog, plans: catalog.plans.map((plan) => ({ ...plan, currency: 'USD' })) };
}

/** The page of GET /servers that a request's address asks for, and the way to the next one as the dialect shows it. */
export function writeList(style: AnswerStyle, servers: readonly WireServer[], address: URL) {
  if (style.paging === 'none') return { body: servers, headers: {} };
  const from = readPage(address) * style.pageSize;
  const elements = servers.slice(from, from + style.pageSize);
  const isLast = from + style.pageSize >= servers.length;
  const page = from / style.pageSize + 2;
  const next = `${address.origin}${address.pathname}?page=${page}`;
  switch (style.paging) {
    case 'next':
      return { body: { servers: elements, next: isLast ? null : next }, headers: {} };
    case 'link':
      return { body: elements, headers: isLast ? {} : { link: `<${next}>; rel="next"` } };
    case 'cursor':
      return { body: { servers: elements, next_cursor: isLast ? null : `c${page}` }, headers: {} };
    case 'has_more':
      return { body: { servers: elements, has_more: !isLast }, headers: {} };
    case 'total':
      return { body: { servers: elements, total: servers.length }, headers: {} };
    case 'partial':
      return { body: elements, headers: {}, ...(!isLast && { status: 206 }) };
  }
}

/** Counted from 0. */
function readPage(address: URL): number {
  const written = address.searchParams.get('page') ?? '1';
  return /^[1-9]\d{0,5}$/.test(written) ? Number(written) - 1 : 0;
}
