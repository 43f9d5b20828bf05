import {
  bareName,
  findAllNearest,
  findPattern,
  foldLabel,
  foldName,
  isIdenticalLabel,
  isSameLabel,
  matchesPattern,
  readingsOf,
} from './labels.ts';
import { compareServers, isDeleted, type ListExtent, type Server } from './server.ts';

/** The servers that a typed name stands for. Several matches never act: they lead to a picker. */
type ServerMatch =
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

/** Whether a name that was typed stands for many: `*` without a `\` before it. */
export function isPattern(typed: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\*/.test(typed);
}

/** The servers whose labels match a pattern; if none does, those that match it as phones write it. */
export function matchPattern(typed: string, servers: readonly Server[]): readonly Server[] {
  const written = findPattern(typed);
  if (written === undefined) return [];
  const listed = (server: Server) => !isDeleted(server);
  const matches = servers.filter((server) => listed(server) && matchesPattern(written, server.label));
  if (matches.length > 0) return matches;
  const bare = findPattern(bareName(typed)) ?? written;
  const { names } = foldedOf(servers);
  return servers.filter((server, at) => listed(server) && matchesPattern(bare, names[at] ?? ''));
}

/** What every surface says about a list with the extent `part`. */
export const PART_OF_LIST = 'The hosting API returned only part of the list.';

/** Says that no listed server matches a name. `named`: the name as the surface writes it. */
export function unmatchedWords(typed: string, named: string, extent: ListExtent = 'whole'): string {
  if (extent === 'whole') return `No server matches ${named}.`;
  if (extent === 'maybe_whole') return `No listed server matches ${named}, but some servers may be missing.`;
  return isPattern(typed)
    ? `No server in the part of the list we received matches ${named}, so we can’t tell whether one exists.`
    : `${named} isn’t in the part of the list we received, so we can’t tell whether it exists.`;
}
