import { foldLabel, isIdenticalLabel, isSameLabel } from './label.ts';
import { findAllNearest } from './nearest.ts';
import { compareServers, type Server } from './server.ts';
import { bareName, foldName, readingsOf } from './typed-name.ts';

/** The servers that a typed name stands for. Several matches never act: they lead to a picker. */
export type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly Server[] };

/**
 * Finds the server that was referred to by label (exact, then in any case, then as phones write it, then unique prefix), ID
 * or IPv4 address. Only servers whose labels `isOffered` lets through are suggested.
 */
export function matchServer(
  typed: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean = () => true,
): ServerMatch {
  const wanted = typed.trim();
  if (wanted === '') return { kind: 'unknown', nearest: [] };
  const exact = servers.filter((server) => isNamed(server, wanted));
  if (exact.length > 0) return offer(exact);
  const label = foldLabel(wanted);
  const { labels, names } = foldedOf(servers);
  const same = servers.filter((_, at) => labels[at] === label);
  if (same.length > 0) return offer(same);
  const beginning = servers.filter((_, at) => labels[at]?.startsWith(label));
  const matches = matchAlike(wanted, servers, names, beginning);
  if (matches.length > 0) return offer(matches);
  return { kind: 'unknown', nearest: suggest(wanted, servers, isOffered) };
}

/**
 * What the name means if the keyboard changed it. A label that begins with the name as it was typed counts as well: two
 * readings never act.
 */
function matchAlike(
  wanted: string,
  servers: readonly Server[],
  names: readonly string[],
  beginning: readonly Server[],
): readonly Server[] {
  const bare = bareName(wanted);
  const readings = readingsOf(wanted);
  const alike = servers.filter(
    (server, at) => isNumbered(server, bare) || readings.includes(names[at] ?? ''),
  );
  if (alike.length > 0) return [...new Set([...alike, ...beginning])];
  if (beginning.length > 0) return beginning;
  return servers.filter((_, at) => readings.some((reading) => names[at]?.startsWith(reading)));
}

/** A list's labels, folded as users compare them, and as phones write them. */
interface FoldedLabels {
  readonly labels: readonly string[];
  readonly names: readonly string[];
}

/** One list is searched for many names: its labels are folded once. */
const folded = new WeakMap<readonly Server[], FoldedLabels>();

function foldedOf(servers: readonly Server[]): FoldedLabels {
  const known = folded.get(servers);
  if (known) return known;
  const made = {
    labels: servers.map(({ label }) => foldLabel(label)),
    names: servers.map(({ label }) => foldName(label)),
  };
  folded.set(servers, made);
  return made;
}

function suggest(
  wanted: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean,
): readonly Server[] {
  const offered = servers.filter(({ label }) => isOffered(label));
  const labels = offered.map(({ label }) => label);
  const nearest = new Set(findAllNearest(bareName(wanted), labels));
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

function offer(matches: readonly Server[]): ServerMatch {
  const [only] = matches;
  if (only && matches.length === 1) return { kind: 'found', server: only };
  return { kind: 'ambiguous', servers: matches.toSorted(compareServers) };
}

/**
 * Keeps the servers whose label, id, address, state or note contains the filter, any case. `noteOf` has the words of a
 * server's note.
 */
export function filterServers(
  filter: string,
  servers: readonly Server[],
  noteOf: (server: Server) => string = () => '',
): readonly Server[] {
  const wanted = filter.trim().toLowerCase();
  const matches = servers.filter((server) =>
    [server.label, String(server.id), server.ipv4 ?? '', server.state, noteOf(server)].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
  return matches.sort(compareServers);
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
    readingsOf(wanted).includes(foldName(server.label))
  );
}
