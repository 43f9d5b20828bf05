import { findAllNearest } from './nearest.ts';
import { compareServers, type Server } from './server.ts';
import { bareName } from './typed-name.ts';

/** A list of servers as menus search it: sorted once for all letters that are typed. */
export interface ServerIndex {
  /** By label. */
  readonly servers: readonly Server[];
  /** What is searched of each of them, in lower case. */
  readonly texts: readonly string[];
}

export function indexServers(servers: readonly Server[]): ServerIndex {
  const sorted = servers.toSorted(compareServers);
  return { servers: sorted, texts: sorted.map(textOf) };
}

/**
 * The servers that `isOffered` lets through and whose label, ID, address or state contains the filter, by label; if there
 * are none, those with the nearest labels.
 */
export function searchServers(
  filter: string,
  { servers, texts }: ServerIndex,
  isOffered: (server: Server) => boolean,
): readonly Server[] {
  for (const wanted of new Set([filter.trim().toLowerCase(), bareName(filter)])) {
    const offered = servers.filter((server, at) => texts[at]?.includes(wanted) && isOffered(server));
    if (offered.length > 0) return offered;
  }
  const offered = servers.filter(isOffered);
  const labels = offered.map(({ label }) => label);
  const nearest = new Set(findAllNearest(bareName(filter), labels));
  return offered.filter(({ label }) => nearest.has(label));
}

function textOf({ label, id, ipv4 = '', state }: Server): string {
  return [label, id, ipv4, state].join('\0').toLowerCase();
}
