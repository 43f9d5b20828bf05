import { isIdenticalLabel, isSameLabel, searchLabels } from './label.ts';
import { findNearestInSteps } from './nearest.ts';
import { omitUndefined } from './omit-undefined.ts';
import { compareServers, type Server } from './server.ts';
import { filterInSteps, mapInSteps, type Steps, sortInSteps } from './steps.ts';

/** The servers that a typed name stands for. Several matches never act: they lead to a picker. */
export type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest?: string };

/**
 * Finds the server that was referred to by label (exact, then unique prefix, any case), ID or IPv4 address. Only labels
 * that `isOffered` lets through are suggested. With pauses.
 */
export function* matchServerInSteps(
  typed: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean = () => true,
): Steps<ServerMatch> {
  const wanted = typed.trim();
  if (wanted === '') return { kind: 'unknown' };
  const exact = yield* filterInSteps(servers, (server) => isNamed(server, wanted));
  if (exact.length > 0) return yield* offer(exact);
  const compare = searchLabels(wanted);
  const compared = yield* mapInSteps(servers, ({ label }) => compare(label));
  for (const likeness of ['same', 'beginning'] as const) {
    const matches = servers.filter((_, at) => compared[at] === likeness);
    if (matches.length > 0) return yield* offer(matches);
  }
  const offered = yield* filterInSteps(
    servers.map(({ label }) => label),
    isOffered,
  );
  const nearest = yield* findNearestInSteps(wanted, offered);
  return { kind: 'unknown', ...omitUndefined({ nearest }) };
}

/** Labels, IDs and addresses are matched together: "42" may be one server's label and another server's ID. */
function isNamed({ label, id, ipv4 }: Server, wanted: string): boolean {
  return isIdenticalLabel(label, wanted) || String(id) === wanted || ipv4 === wanted;
}

function* offer(matches: readonly Server[]): Steps<ServerMatch> {
  const [only] = matches;
  if (only && matches.length === 1) return { kind: 'found', server: only };
  return { kind: 'ambiguous', servers: yield* sortInSteps(matches, compareServers) };
}

/** Keeps the servers whose label, id, address or state contains the filter, any case; with pauses. */
export function* filterServersInSteps(filter: string, servers: readonly Server[]): Steps<Server[]> {
  const wanted = filter.trim().toLowerCase();
  const matches = yield* filterInSteps(servers, (server) =>
    [server.label, String(server.id), server.ipv4 ?? '', server.state].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
  return yield* sortInSteps(matches, compareServers);
}

/** Whether this names the server in full, by label (any case), ID or IPv4 address, rather than by the beginning of its label. */
export function isFullName(typed: string, { id, label, ipv4 }: Server): boolean {
  const wanted = typed.trim();
  return isSameLabel(label, wanted) || String(id) === wanted || ipv4 === wanted;
}
