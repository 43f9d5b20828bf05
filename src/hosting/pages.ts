import type { Server, ServerList } from '../domain/server.ts';
import type { ServerPage } from './read-servers.ts';

/** The most pages of one list. Each page takes a slot of the account's minute. */
const MOST_PAGES = 100;

/**
 * Follows a list to its last page, as far as the next pages are clear. Where they are not, the list is marked as
 * incomplete: then nothing may be concluded from what is missing in it.
 * @throws what `fetchPage` throws, whichever page it was
 */
export async function readAllPages(
  firstPath: string,
  fetchPage: (path: string) => Promise<ServerPage>,
  findPath: (address: string, from: string) => string | undefined,
): Promise<ServerList> {
  const found = new Map<number, Server>();
  const seen = new Set<string>();
  let unreadableCount = 0;
  let total = 0;
  let isSteady = true;
  for (let path = firstPath; ; ) {
    seen.add(path);
    const { servers, unreadable, signs } = await fetchPage(path);
    unreadableCount += unreadable;
    total = Math.max(total, signs.total ?? 0);
    for (const server of servers) {
      const before = found.get(server.id);
      // One ID with two descriptions: the list changed while we read it, or contradicts itself.
      if (before && JSON.stringify(before) !== JSON.stringify(server)) isSteady = false;
      found.set(server.id, before ?? server);
    }
    // One address written in two ways is clear; two different addresses are not.
    const [next, ...rivals] = new Set(signs.next.map((address) => findPath(address, path)));
    if (next !== undefined && rivals.length === 0 && !seen.has(next) && seen.size < MOST_PAGES) {
      path = next;
      continue;
    }
    const counted = found.size + unreadableCount;
    const isAtEnd = signs.claim === 'end' ? total <= counted : signs.claim === 'unclear' && total === counted;
    return {
      servers: [...found.values()],
      isComplete: isAtEnd && isSteady && unreadableCount === 0,
      unreadableCount,
    };
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
