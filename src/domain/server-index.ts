import { findNearestInSteps } from './nearest.ts';
import { compareServers, type Server } from './server.ts';
import { filterInSteps, mapInSteps, type Steps, sortInSteps } from './steps.ts';
import { bareName } from './typed-name.ts';

/** A list of servers as menus search it: sorted once for all letters that are typed. */
export interface ServerIndex {
  /** By label. */
  readonly servers: readonly Server[];
  /** What is searched of each of them, in lower case. */
  readonly texts: readonly string[];
}

export function* indexServersInSteps(servers: readonly Server[]): Steps<ServerIndex> {
  const sorted = yield* sortInSteps(servers, compareServers);
  return { servers: sorted, texts: yield* mapInSteps(sorted, textOf) };
}

/**
 * The servers that `isOffered` lets through and whose label, ID, address or state contains the filter, by label; if there
 * are none, those with the nearest labels. With pauses.
 */
export function* searchInSteps(
  filter: string,
  { servers, texts }: ServerIndex,
  isOffered: (server: Server) => boolean,
): Steps<readonly Server[]> {
  for (const wanted of new Set([filter.trim().toLowerCase(), bareName(filter)])) {
    const matches = servers.filter((_, at) => texts[at]?.includes(wanted));
    const offered = yield* filterInSteps(matches, isOffered);
    if (offered.length > 0) return offered;
  }
  const offered = yield* filterInSteps(servers, isOffered);
  const labels = offered.map(({ label }) => label);
  const nearest = new Set(yield* findNearestInSteps(bareName(filter), labels));
  return offered.filter(({ label }) => nearest.has(label));
}

function textOf({ label, id, ipv4 = '', state }: Server): string {
  return [label, id, ipv4, state].join('\0').toLowerCase();
}
