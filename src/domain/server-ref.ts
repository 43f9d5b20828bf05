import { isIdenticalLabel, isSameLabel, searchLabels } from './label.ts';
import { findNearestInSteps } from './nearest.ts';
import { compareServers, type Server } from './server.ts';
import { filterInSteps, mapInSteps, type Steps, sortInSteps } from './steps.ts';
import { bareName, searchAlike } from './typed-name.ts';

/** The servers that a typed name stands for. Several matches never act: they lead to a picker. */
export type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly Server[] };

/**
 * Finds the server that was referred to by label (exact, then in any case, then as phones write it, then unique prefix), ID
 * or IPv4 address. Only servers whose labels `isOffered` lets through are suggested. With pauses.
 */
export function* matchServerInSteps(
  typed: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean = () => true,
): Steps<ServerMatch> {
  const wanted = typed.trim();
  if (wanted === '') return { kind: 'unknown', nearest: [] };
  const exact = yield* filterInSteps(servers, (server) => isNamed(server, wanted));
  if (exact.length > 0) return yield* offer(exact);
  const compare = searchLabels(wanted);
  const compared = yield* mapInSteps(servers, ({ label }) => compare(label));
  const same = servers.filter((_, at) => compared[at] === 'same');
  if (same.length > 0) return yield* offer(same);
  const beginning = servers.filter((_, at) => compared[at] === 'beginning');
  const matches = yield* matchAlike(wanted, servers, beginning);
  if (matches.length > 0) return yield* offer(matches);
  return { kind: 'unknown', nearest: yield* suggest(wanted, servers, isOffered) };
}

/**
 * What the name means if the keyboard changed it. A label that begins with the name as it was typed counts as well: two
 * readings never act.
 */
function* matchAlike(
  wanted: string,
  servers: readonly Server[],
  beginning: readonly Server[],
): Steps<readonly Server[]> {
  const bare = bareName(wanted);
  const compare = searchAlike(wanted);
  const compared = yield* mapInSteps(servers, (server) =>
    isNumbered(server, bare) ? 'alike' : compare(server.label),
  );
  const alike = servers.filter((_, at) => compared[at] === 'alike');
  if (alike.length > 0) return [...new Set([...alike, ...beginning])];
  return beginning.length > 0 ? beginning : servers.filter((_, at) => compared[at] === 'beginning');
}

function* suggest(
  wanted: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean,
): Steps<readonly Server[]> {
  const offered = yield* filterInSteps(servers, ({ label }) => isOffered(label));
  const labels = offered.map(({ label }) => label);
  const nearest = new Set(yield* findNearestInSteps(bareName(wanted), labels));
  return offered.filter(({ label }) => nearest.has(label)).slice(0, MOST_SUGGESTED);
}

const MOST_SUGGESTED = 20;

/** Labels, IDs and addresses are matched together: "42" may be one server's label and another server's ID. */
function isNamed(server: Server, wanted: string): boolean {
  return isIdenticalLabel(server.label, wanted) || isNumbered(server, wanted);
}

function isNumbered({ id, ipv4 }: Server, wanted: string): boolean {
  return String(id) === wanted || ipv4 === wanted;
}

function* offer(matches: readonly Server[]): Steps<ServerMatch> {
  const [only] = matches;
  if (only && matches.length === 1) return { kind: 'found', server: only };
  return { kind: 'ambiguous', servers: yield* sortInSteps(matches, compareServers) };
}

/**
 * Keeps the servers whose label, id, address, state or note contains the filter, any case; with pauses. `noteOf` has the
 * words of a server's note.
 */
export function* filterServersInSteps(
  filter: string,
  servers: readonly Server[],
  noteOf: (server: Server) => string = () => '',
): Steps<Server[]> {
  const wanted = filter.trim().toLowerCase();
  const matches = yield* filterInSteps(servers, (server) =>
    [server.label, String(server.id), server.ipv4 ?? '', server.state, noteOf(server)].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
  return yield* sortInSteps(matches, compareServers);
}

/**
 * Whether this names the server in full, by label (any case, and as phones write it), ID or IPv4 address, rather than by the
 * beginning of its label.
 */
export function isFullName(typed: string, server: Server): boolean {
  const wanted = typed.trim();
  return (
    isSameLabel(server.label, wanted) ||
    isNumbered(server, wanted) ||
    isNumbered(server, bareName(wanted)) ||
    searchAlike(wanted)(server.label) === 'alike'
  );
}
