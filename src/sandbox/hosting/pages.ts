import type { AnswerStyle } from './answer.ts';
import type { WireServer } from './server-record.ts';

/** A list as it goes out: one page of it, unless the service lists everything at once. */
export interface ListAnswer {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the status that a success has otherwise. */
  readonly status?: number;
}

/** The page of GET /servers that a request's address asks for, and the way to the next one as the dialect shows it. */
export function writeList(style: AnswerStyle, servers: readonly WireServer[], address: URL): ListAnswer {
  if (style.paging === 'none') return { body: wrap(style, servers, {}), headers: {} };
  const from = readPage(address) * style.pageSize;
  const elements = servers.slice(from, from + style.pageSize);
  const isLast = from + style.pageSize >= servers.length;
  const page = from / style.pageSize + 2;
  const next = `${address.origin}${address.pathname}?page=${page}`;
  switch (style.paging) {
    case 'next':
      return { body: wrap(style, elements, { next: isLast ? null : next }), headers: {} };
    case 'link':
      return {
        body: wrap(style, elements, {}),
        headers: isLast ? {} : { link: `<${next}>; rel="next"` },
      };
    case 'cursor':
      return { body: wrap(style, elements, { next_cursor: isLast ? null : `c${page}` }), headers: {} };
    case 'has_more':
      return { body: wrap(style, elements, { has_more: !isLast }), headers: {} };
    case 'total':
      return { body: wrap(style, elements, { total: servers.length }), headers: {} };
    case 'partial':
      return { body: wrap(style, elements, {}), headers: {}, ...(!isLast && { status: 206 }) };
  }
}

/** Counted from 0. */
function readPage(address: URL): number {
  const written = address.searchParams.get('page') ?? '1';
  return /^[1-9]\d{0,5}$/.test(written) ? Number(written) - 1 : 0;
}

function wrap(style: AnswerStyle, elements: readonly unknown[], paging: Record<string, unknown>): unknown {
  const beside = style.listBeside === 'unknown' ? { ...paging, foo: { bar: 1 } } : paging;
  return Object.keys(beside).length === 0 ? elements : { servers: elements, ...beside };
}
