import type { Row, TrueServer } from './row.ts';

const AT = Date.UTC(2026, 11, 1);
const server = (id: number) => ({
  id,
  label: `web-${id}`,
  state: 'running',
  ipv4: `192.0.2.${id}`,
  paid_until: '2026-12-01T00:00:00Z',
});
const truly = (id: number): TrueServer => {
  return { id: String(id), label: `web-${id}`, state: 'running', ipv4: `192.0.2.${id}`, paidUntil: AT };
};
const [A, B, C] = [server(1), server(2), server(3)];
const all = (...ids: number[]) => ({ of: 'list' as const, servers: ids.map(truly) });

type Part = Pick<Row, 'title' | 'body' | 'kind'> & Partial<Row>;
const rows = (truth: Row['truth'], parts: readonly Part[]): Row[] =>
  parts.map((part) => ({ call: 'list', truth, ...part }));

type Few = readonly Readonly<Record<string, unknown>>[];

/** Two servers with each of these beside them. */
const beside = (kind: Row['kind'], fields: Few, of = '') =>
  fields.map((more) => ({
    title: `${of}with ${JSON.stringify(more).slice(0, 80)}`,
    body: { servers: [A, B], ...more },
    kind,
  }));
/** Two servers with each of these headers. */
const headed = (kind: Row['kind'], headers: readonly NonNullable<Row['headers']>[], of = '') =>
  headers.map((each) => ({ title: `${of}with ${JSON.stringify(each)}`, body: [A, B], headers: each, kind }));

/** Two of two servers, in every shape: nothing is missing. */
const WHOLE = rows(all(1, 2), [
  { title: 'as documented', body: [A, B], kind: 'understood' },
  ...['servers', 'data', 'items', 'results'].map((name) => ({
    title: `in ${name}`,
    body: { [name]: [A, B] },
    kind: 'understood' as const,
  })),
  // One object around a list is looked through, if the list has one of the usual names.
  { title: 'in records', body: { records: [A, B] }, kind: 'told' },
  { title: 'in data.servers', body: { data: { servers: [A, B] } }, kind: 'told' },
  // What is known to be harmless around a list (rule 11).
  ...beside('understood', [
    { next: null, next_cursor: '' },
    { has_more: false },
    { hasMore: 0 },
    { count: '2' },
    { meta: { pagination: { page: 1, last_page: 1, total: 2 } } },
    { current_page: 1, last_page: 1, total: 2 },
    { success: true, error: null, errors: [], message: 'success', request_id: 'r1' },
    { status: 'ok', code: 200, failures: {} },
    { meta: { requestId: 'r1', traceId: 't1', timestamp: 1796083200, took: 3, apiVersion: 'v1' } },
    { warnings: [], links: {}, unheardOf: null },
  ]),
  // What is not known may mean anything (rule 12): nothing is concluded from what is missing.
  ...beside('told', [
    { page: 1, per_page: 50 },
    { pageInfo: { hasNextPage: false, endCursor: 'b' } },
    { prev_cursor: 'a' },
    { total: 1 },
    // A false end, and words about requests and times that are about the list.
    ...['finished', 'eof', 'is_last', 'complete'].map((name) => ({ [name]: false })),
    { request_truncated: true },
    { current_page: 1, last_page: 1, total: 2, per_page: 15 },
  ]),
  ...headed('understood', [
    { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining-count': '299', 'ratelimit-total': '300' },
    { 'x-request-count': '57', 'x-total': '2', 'x-total-pages': '1', 'x-page': '1', 'x-next-page': '' },
  ]),
  {
    title: 'with links, none of them next',
    body: [A, B],
    headers: { link: '</v1/servers>; rel="first"' },
    kind: 'understood',
  },
  { title: 'twice the same server', body: [A, B, B], kind: 'understood' },
]);

/** Two of three servers: the third is on a page that no link leads to. */
const CUT = rows(all(1, 2, 3), [
  ...beside(
    'told',
    [
      { next: 'https://elsewhere.test/v1/servers?page=2' },
      { next: 'http://hosting.test/v1/servers?page=2' },
      { next: '/v1/servers' },
      { next: '/v1/servers/../catalog' },
      { request: { total: 57 } },
      { next: `/v1/servers?${'x'.repeat(3_000)}` },
      { links: { next: '/v1/servers?page=2' }, next: '/v1/servers?page=3' },
      { has_more: true },
      { complete: false },
      { meta: { total_count: 3 } },
      { count: 3 },
      { limit: 2, offset: 0 },
      { unheardOf: 'x' },
      { warnings: ['one shard did not answer'] },
      { status: 'partial' },
      { success: false },
    ],
    'of three, ',
  ),
  ...headed(
    'told',
    [
      { link: '<https://elsewhere.test/v1/servers?page=2>; rel="next"' },
      ...["'next'", 'NEXT', '"prev next"'].map((rel) => ({ link: `</v2/servers?page=2>; rel=${rel}` })),
      { link: '/v1/servers?page=2; rel=next' },
      { 'x-pagination': '{"total":3}' },
      { 'next-token': 'abc' },
      { 'x-continuation': 'abc' },
      { 'x-more': '1' },
      { 'x-page': '1' },
      { link: '</v1/servers?page=2>; rel="next", </v1/servers?page=3>; rel="next"' },
      { 'content-range': 'servers 0-1/*' },
    ],
    'of three, ',
  ),
  { title: 'of three, with status 206', status: 206, body: [A, B], kind: 'told' },
  { title: 'two lists in one answer', body: { servers: [A, B], data: [C] }, kind: 'told' },
  { title: 'another list beside it', body: { servers: [A, B], records: [C] }, kind: 'told' },
]);

const link = (page: number) => ({ link: `<https://hosting.test/v1/servers?page=${page}>; rel="next"` });

/** The way to the third server is clear. */
const PAGED = rows(all(1, 2, 3), [
  ...['https://hosting.test/v1/servers?page=2', '/v1/servers?page=2', '?page=2'].flatMap((next) =>
    [
      { next },
      { links: { next } },
      { _links: { next: { href: next } } },
      { meta: { pagination: { next_url: next } } },
    ].map((beside) => ({
      title: `in pages: ${JSON.stringify(beside)}`,
      body: { servers: [A, B], ...beside },
      pages: { '/servers?page=2': { body: { servers: [C], next: null } } },
      kind: 'understood' as const,
    })),
  ),
  {
    title: 'in three pages, by Link',
    body: [A],
    headers: link(2),
    pages: {
      '/servers?page=2': { body: [B], headers: link(3) },
      '/servers?page=3': { body: [C], headers: {} },
    },
    kind: 'understood',
  },
  {
    title: 'in pages that add up to the total',
    body: { servers: [A, B], total: 3, next: '?page=2' },
    pages: { '/servers?page=2': { body: { servers: [C], total: 3, next: null } } },
    kind: 'understood',
  },
  {
    title: 'in pages, by a link and a field that name the same address in two ways',
    body: { servers: [A, B], next: '?page=2' },
    headers: link(2),
    pages: { '/servers?page=2': { body: { servers: [C], next: null }, headers: {} } },
    kind: 'understood',
  },
  {
    title: 'in pages of which the first alone says how many there are',
    body: { servers: [A], total: 3, next: '?page=2' },
    pages: { '/servers?page=2': { body: { servers: [B] } } },
    kind: 'told',
  },
  {
    title: 'in pages that lead in a circle',
    body: { servers: [A], next: '?page=2' },
    pages: { '/servers?page=2': { body: { servers: [B], next: '/v1/servers?page=2' } } },
    kind: 'told',
  },
  {
    title: 'in pages of which the last can’t be read',
    body: { servers: [A], next: '?page=2' },
    pages: { '/servers?page=2': { body: '<html>' } },
    kind: 'told',
  },
  {
    title: 'in pages that describe a server differently',
    body: { servers: [A, C], next: '?page=2' },
    pages: { '/servers?page=2': { body: { servers: [{ ...C, label: 'other' }, B], next: null } } },
    kind: 'told',
  },
]);

/** One of two servers can't be read. */
const HALF = rows(all(1, 2), [
  ...[null, 'server', [], { label: 'web-2' }, ...[null, '', '007', 7.5, [2]].map((id) => ({ ...B, id }))].map(
    (odd) => ({
      title: `with an element ${JSON.stringify(odd).slice(0, 40)}`,
      body: [A, odd],
      kind: 'told' as const,
    }),
  ),
  { title: 'none of which can be read', body: [{}, null], kind: 'told' },
]);

/** Answers that are not lists. */
const NO_LIST = rows(all(1, 2), [
  ...['', 'null', '{}', '[', '5', '<html></html>', '{"servers":null}', '{"a":[1]}'].map((body) => ({
    title: `that is ${JSON.stringify(body)}`,
    body,
    kind: 'told' as const,
  })),
  { title: 'nested without end', body: `${'['.repeat(5_000)}1.5${']'.repeat(5_000)}`, kind: 'told' },
  { title: 'with success: false', body: { servers: [], success: false }, kind: 'told' },
  { title: 'empty, with an error', body: { servers: [], error: 'timeout' }, kind: 'told' },
  { title: 'empty, with a total', body: { servers: [], total: 2 }, kind: 'told' },
  { title: 'empty, and something unknown', body: { servers: [], shard: 'eu-1' }, kind: 'told' },
  { title: 'that is an error', body: { error: 'unauthorized' }, kind: 'told' },
]);

export const LISTS: readonly Row[] = [...WHOLE, ...CUT, ...PAGED, ...HALF, ...NO_LIST];
