import { type Fields, fieldsOf, findText, findWhole, foldName, isAbsent } from './fields.ts';

/** Headers that may announce further pages, in lower case. */
export type PagingHeaders = Readonly<Record<string, string>>;

export const PAGING_HEADERS = [
  'link',
  'content-range',
  'x-total-count',
  'x-total',
  'x-total-pages',
  'x-page',
  'x-next-page',
  'x-next-cursor',
  'x-has-more',
];

/** What an answer says about further pages. The document neither shows nor rules out pages (docs/hosting-api.md 4). */
export interface PageSigns {
  /** The addresses that are named as the next page. */
  readonly next: readonly string[];
  /** `unclear`: something around the list may announce more, in a way that we don't know. */
  readonly claim: 'end' | 'more' | 'unclear';
  /** How many servers there are on all pages. */
  readonly total?: number;
}

/** Reads every sign of further pages that services use. When unsure, it assumes more pages. */
export function readPageSigns(
  answer: { readonly status: number; readonly paging?: PagingHeaders },
  around: readonly Fields[],
  elements: number,
): PageSigns {
  const headers = readHeaders(answer.paging ?? {});
  const leaves = [...around.flatMap(listLeaves), ...headers.leaves];
  const addresses = new Set([...headers.next, ...leaves.flatMap(findAddress)]);
  const totals = leaves.flatMap(({ name, value }) => (TOTALS.has(name) ? (findWhole(value) ?? []) : []));
  const says = leaves.map((leaf) => judge(leaf, leaves, elements));
  const total = totals.length > 0 ? Math.max(...totals) : undefined;
  const isMore = answer.status === 206 || addresses.size > 0 || says.includes('more');
  const isUnclear = says.includes('unclear') && !says.includes('end') && total === undefined;
  return {
    claim: isMore ? 'more' : isUnclear ? 'unclear' : 'end',
    next: [...addresses],
    ...(total !== undefined && { total }),
  };
}

interface Leaf {
  /** Normalized: `nextcursor`. */
  readonly name: string;
  readonly value: unknown;
}

const words = (text: string) => new Set(text.split(' '));

const NEXT = words('next nexturl nexturi nextlink nexthref nextpageurl nextpagelink odatanextlink');
const HAS_MORE = words(
  'hasmore more hasnext hasnextpage istruncated truncated partial incomplete moreavailable',
);
const IS_LAST = words('islast last lastpage complete iscomplete end isend');
const NEXT_MARKS = words(
  'cursor nextcursor nexttoken nextpagetoken nextpage nextoffset nextmarker continuation continuationtoken',
);
const TOTALS = words(
  'total totalcount totalresults totalelements totalitems totalservers totalrecords count servercount numservers length',
);
const PAGE_COUNTS = words('pages totalpages pagecount numpages last lastpage');
const PAGE_NUMBERS = words('page currentpage pagenumber pageno');
const PAGE_SIZES = words('limit perpage pagesize size itemsperpage maxresults');
const SILENT = words(
  'success ok status code message msg error errors warning warnings requestid traceid version apiversion time timestamp took duration ' +
    'self first prev previous firstpageurl lastpageurl prevpageurl to kind type object href url path currency account accountid',
);
const HOLDERS = words('meta pagination paging pager page pageinfo links cursors paginginfo');

/** The fields around the list, including those of paging objects. */
function listLeaves(fields: Fields): Leaf[] {
  return Object.entries(fields).flatMap(([written, value]) => {
    const name = foldName(written);
    const inner = fieldsOf(value);
    if (HOLDERS.has(name) && Object.keys(inner).length > 0) return listLeaves(inner);
    return [{ name, value: NEXT.has(name) && 'href' in inner ? inner.href : value }];
  });
}

function findAddress({ name, value }: Leaf): string[] {
  return NEXT.has(name) && typeof value === 'string' && /^(https?:\/\/|[/?])/i.test(value) ? [value] : [];
}

/** What one field says about pages; undefined if nothing. */
function judge(
  { name, value }: Leaf,
  leaves: readonly Leaf[],
  elements: number,
): 'end' | 'more' | 'unclear' | undefined {
  const isSaid = !isAbsent(value) && value !== '' && value !== false && value !== 'false';
  if (NEXT.has(name) || NEXT_MARKS.has(name)) return isSaid ? 'more' : 'end';
  if (HAS_MORE.has(name)) return isSaid && value !== 0 ? 'more' : 'end';
  if (IS_LAST.has(name) && typeof value === 'boolean') return value ? 'end' : 'more';
  if (PAGE_COUNTS.has(name) && findWhole(value) !== undefined) {
    return (findWhole(value) ?? 0) > findPageNumber(leaves) ? 'more' : 'end';
  }
  // A page that is not full is the last one; a full one need not be.
  if (PAGE_SIZES.has(name)) return (findWhole(value) ?? 0) > elements ? 'end' : 'unclear';
  if (TOTALS.has(name)) return findWhole(value) === undefined && isSaid ? 'unclear' : undefined;
  return SILENT.has(name) || !isSaid || isEmpty(value) ? undefined : 'unclear';
}

function findPageNumber(leaves: readonly Leaf[]): number {
  const numbers = leaves.flatMap(({ name, value }) =>
    PAGE_NUMBERS.has(name) ? (findWhole(value) ?? []) : [],
  );
  return numbers.length === 0 ? 1 : Math.min(...numbers);
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : JSON.stringify(value) === '{}';
}

/** The headers as fields of the same names, and the next page's addresses from `Link` (RFC 8288). */
function readHeaders(headers: PagingHeaders): { readonly leaves: Leaf[]; readonly next: string[] } {
  const { link = '', 'content-range': range = '', ...plain } = headers;
  const next = [...link.matchAll(/<([^>]*)>\s*((?:;[^,<]*)*)/g)].flatMap(
    ([, address = '', parameters = '']) =>
      /;\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:[\s";]|$)/i.test(parameters) ? [address] : [],
  );
  const leaves = Object.entries(plain).map(([name, value]) => ({ name: foldName(name.slice(2)), value }));
  const total = /\/\s*(\d+|\*)\s*$/.exec(range)?.[1];
  const ranged = total === undefined ? [] : [{ name: 'total', value: total }];
  return { leaves: [...leaves, ...ranged].filter(({ value }) => findText(value) !== ''), next };
}
