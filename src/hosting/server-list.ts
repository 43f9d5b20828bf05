import type { ListExtent, Server, ServerList } from '../core/server.ts';
import type { ReadableAnswer } from './endpoints.ts';
import {
  type Fields,
  fieldsOf,
  findText,
  findTime,
  findWhole,
  isEmpty,
  type Leaf,
  listLeaves,
  wordsOf,
} from './fields.ts';
import { isFault, isNo, isStatement, Unclear, YES } from './verdict.ts';

// How much of the account a list of servers shows (docs/hosting-api.md 4.13): a list is whole only if everything around it
// is known to be harmless, and a part if anything says so. Otherwise, nothing is concluded from a missing server.

/** The headers of an answer that may say something about further pages, in lower case. */
export type PagingHeaders = Readonly<Record<string, string>>;

const PAGING = new Set('total count next page pages cursor more continuation pagination'.split(' '));

export function isPagingHeader(name: string): boolean {
  if (/rate-?limit|retry|csrf|request/i.test(name)) return false;
  return /^(?:link|content-range)$/i.test(name) || wordsOf(name).some((word) => PAGING.has(word));
}

/** One page of `GET /servers`; the only one unless something announces more. */
export interface ServerPage {
  readonly servers: readonly Server[];
  /** The number of elements that can't be read but may be servers. */
  readonly unreadable: number;
  readonly next: readonly string[];
  /** The fields around the list, including headers. */
  readonly around: readonly Leaf[];
  /** What this page alone, without the fields that count or announce pages, says about the list. */
  readonly extent: ListExtent;
}

/**
 * Reads one page of the list (docs/hosting-api.md 2.3, 4.13). Leaves out and counts elements that can't be read.
 * @throws Unclear if it has no list, none of its elements can be read, or it is empty beside a fault
 */
export function readServers(answer: ReadableAnswer): ServerPage {
  const { body, status } = answer;
  const { elements, beside } = findList(body);
  const around = listAround(beside, answer);
  const servers = elements.map(findServer).filter((server) => server !== undefined);
  const unreadable = elements.length - servers.length;
  const isDenied = around.some((leaf) => isFault(leaf) || isNo(leaf, status));
  if (servers.length === 0 && (isDenied || unreadable > 0))
    throw new Unclear(isDenied ? 'carries_error' : 'unexpected');
  const isPart = isDenied || unreadable > 0 || status === 206;
  // A server without a readable label can't be found by it.
  const areNamed = elements.every((element) => isNamed(fieldsOf(element)));
  return {
    servers,
    unreadable,
    next: around.flatMap(findAddress),
    around,
    extent: isPart ? 'part' : areNamed ? 'whole' : 'maybe_whole',
  };
}

export function listAround(beside: Fields, { paging = {} }: ReadableAnswer): Leaf[] {
  const { link = '', 'content-range': range = '', ...plain } = paging;
  const total = range === '' ? [] : (/\/\s*(\d+)\s*$/.exec(range)?.[1] ?? Number.MAX_SAFE_INTEGER);
  return [beside, plain, { next: nextIn(link), total }].flatMap((fields) => listLeaves(fields));
}

/** Lists the addresses of the next page in a `Link` header (RFC 8288); `unreadable` in place of one that can't be read. */
function nextIn(link: string): string[] {
  const links = [...link.matchAll(/<([^>]*)>([^<]*)/g)];
  const next = links.filter(([, , parameters = '']) => NEXT_RELATION.test(parameters));
  if (next.length === 0) return NEXT_RELATION.test(link) ? ['unreadable'] : [];
  return next.map(([, address]) => address || 'unreadable');
}

const NEXT_RELATION = /\brel\s*=[^;,]*\bnext\b/i;

const LIST_FIELDS = ['servers', 'data', 'items', 'results'];

interface FoundList {
  readonly elements: readonly unknown[];
  readonly beside: Fields;
}

/** Finds the list: the answer itself, or the only list in an object around it. @throws Unclear */
function findList(body: unknown): FoundList {
  if (Array.isArray(body)) return { elements: body, beside: {} };
  const outer = fieldsOf(body);
  const found = LIST_FIELDS.flatMap((name): FoundList[] => {
    const { [name]: held, ...beside } = outer;
    return Array.isArray(held) ? [{ elements: held, beside }] : [];
  });
  const [list, ...rivals] = found;
  if (!list || rivals.length > 0) throw new Unclear('unexpected');
  return list;
}

/** Reads a server; undefined without a readable ID. Any other unreadable field becomes absent or ''. */
function findServer(element: unknown): Server | undefined {
  const { id: writtenId, label, state, ipv4, paid_until } = fieldsOf(element);
  const id = findWhole(writtenId);
  if (id === undefined) return undefined;
  const address = typeof ipv4 === 'string' ? ipv4.trim() : '';
  const paidUntil = findTime(paid_until);
  return {
    id,
    label: findText(label) ?? '',
    state: findText(state)?.trim() ?? '',
    ...(address !== '' && { ipv4: address }),
    ...(paidUntil !== undefined && { paidUntil }),
  };
}

/** Whether an element has a readable label. `null` counts: the server was given none. */
function isNamed({ label }: Fields): boolean {
  return label === null || (label !== undefined && findText(label) !== undefined);
}

function findAddress({ words, value }: Leaf): string[] {
  const isNext = words.includes('next') && typeof value === 'string';
  return isNext && /^(https?:\/\/|[/?])/i.test(value) ? [value] : [];
}

interface Progress {
  /** The number of elements on this page, and on all pages so far. */
  readonly onPage: number;
  readonly elements: number;
  readonly pages: number;
  readonly arePagesCounted: boolean;
}

const MORE = new Set(['next', 'cursor', 'continuation', 'more']);
/** Names of fields that have nothing to do with pages: requests, times and versions. */
const HARMLESS =
  /^(?:request|trace|correlation)_?id$|^(?:timestamp|time|date|took|duration)$|_(?:at|time)$|version$/;

function extentBy(leaf: Leaf, progress: Progress): ListExtent {
  const { onPage, elements, pages, arePagesCounted } = progress;
  const { name, words, value } = leaf;
  const number = findWhole(value);
  if (announcesMore(leaf, pages)) return 'part';
  if (number !== undefined && countsPages(leaf)) return number === pages ? 'whole' : 'maybe_whole';
  if (number !== undefined && countsElements(leaf)) {
    if (number > elements) return 'part';
    return number === elements || number === onPage ? 'whole' : 'maybe_whole';
  }
  const isPage = words.includes('page') && number === pages && arePagesCounted;
  const isYes = isStatement(name) || YES.has(String(value).toLowerCase());
  const isHarmless = typeof value !== 'boolean' && HARMLESS.test(wordsOf(name).join('_'));
  return isNothing(leaf) || isYes || isPage || isHarmless ? 'whole' : 'maybe_whole';
}

/** Whether a field says nothing: empty, or false where it denies more pages or a fault (elsewhere, false may deny the end). */
function isNothing(leaf: Leaf): boolean {
  const isDenial = leaf.words.some((word) => MORE.has(word)) || isFault({ ...leaf, value: true });
  return isEmpty(leaf.value) && (isDenial || !/^false$/i.test(String(leaf.value)));
}

/** Whether a field announces something that follows, or more than `pages` pages. */
export function announcesMore(leaf: Leaf, pages = 1): boolean {
  const { words, value } = leaf;
  if (countsPages(leaf) && (findWhole(value) ?? 0) > pages) return true;
  const isBack = words.includes('prev') || words.includes('previous');
  return !isBack && !isEmpty(value) && words.some((word) => MORE.has(word));
}

function countsPages({ words }: Leaf): boolean {
  const isOfAll = words.includes('total') || words.includes('last') || words.includes('count');
  return !words.includes('per') && (words.includes('pages') || (words.includes('page') && isOfAll));
}

function countsElements(leaf: Leaf): boolean {
  const { words } = leaf;
  return (
    !words.includes('page') && !countsPages(leaf) && (words.includes('total') || words.includes('count'))
  );
}

/** The most pages of one list that are read. Each takes a slot of the account's minute. */
const MOST_PAGES = 100;

/**
 * Reads a list page by page, a hundred at most, as long as each page names one next page. `findPath` returns the path of an
 * address that may be followed.
 * @throws what `fetchPage` throws for any page
 */
export async function readAllPages(
  firstPath: string,
  fetchPage: (path: string) => Promise<ServerPage>,
  findPath: (address: string, from: string) => string | undefined,
): Promise<ServerList> {
  const found = new Map<number, Server>();
  const seen = new Set<string>();
  const extents = new Set<ListExtent>();
  const totals: Leaf[] = [];
  let unreadableCount = 0;
  for (let path = firstPath; ; ) {
    seen.add(path);
    const page = await fetchPage(path);
    unreadableCount += page.unreadable;
    extents.add(page.extent);
    for (const server of page.servers) {
      const before = found.get(server.id);
      // The same ID with two descriptions: the list changed while it was read, or contradicts itself.
      if (before && JSON.stringify(before) !== JSON.stringify(server)) extents.add('part');
      found.set(server.id, before ?? server);
    }
    totals.push(...page.around.filter((leaf) => countsElements(leaf) || countsPages(leaf)));
    const elements = found.size + unreadableCount;
    const progress = {
      onPage: page.servers.length + page.unreadable,
      elements,
      pages: seen.size,
      arePagesCounted: page.around.some(countsPages),
    };
    const says = page.around.map((leaf) => extentBy(leaf, progress));
    if (says.includes('maybe_whole')) extents.add('maybe_whole');
    // One address written in two ways is clear; two different addresses are not.
    const [next, ...rivals] = new Set(page.next.map((address) => findPath(address, path)));
    if (next !== undefined && rivals.length === 0 && !seen.has(next) && seen.size < MOST_PAGES) {
      path = next;
      continue;
    }
    // By the last page, everything that an earlier page announced must have arrived.
    if (says.includes('part') || totals.some((leaf) => extentBy(leaf, progress) === 'part'))
      extents.add('part');
    const extent = (['part', 'maybe_whole'] as const).find((each) => extents.has(each)) ?? 'whole';
    return { servers: [...found.values()], extent, unreadableCount };
  }
}

/** Creates `findPath` of `readAllPages`: only addresses of the same origin that lead to the list may be followed. */
export function createPathFinder(
  baseUrl: string,
  listPath: string,
): (address: string, from: string) => string | undefined {
  const base = baseUrl.replace(/\/+$/, '');
  const { origin, pathname } = new URL(`${base}${listPath}`);
  const basePath = pathname.slice(0, -listPath.length);
  return (address, from) => {
    if (address.length > 2_000 || !URL.canParse(address, `${base}${from}`)) return undefined;
    const url = new URL(address, `${base}${from}`);
    // The request carries the API key, which must go to this service only.
    const isOurs = url.origin === origin && url.pathname.replace(/\/$/, '') === pathname;
    return isOurs ? `${url.pathname.slice(basePath.length)}${url.search}` : undefined;
  };
}
