import type { ListExtent, Server, ServerList } from '../domain/server.ts';
import { findWhole, type Leaf } from './fields.ts';
import { countsElements, countsPages, extentBy, isTotal, type ServerPage } from './server-list.ts';

/** The most pages of one list. Each page takes a slot of the account's minute. */
const MOST_PAGES = 100;

/**
 * Follows a list to its last page, as far as the next pages are clear.
 * @throws what `fetchPage` throws, whichever page it was
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
      // The same ID with two descriptions: the list changed while we read it, or contradicts itself.
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
      isTotalReached: page.around.some((leaf) => isTotal(leaf) && findWhole(leaf.value) === elements),
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

/** Decides whether the address of a next page is followed: it must have the same origin and lead to the list of servers. */
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
