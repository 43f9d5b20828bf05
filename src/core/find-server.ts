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

/** What a typed name stands for (docs/design.md 2.2). `ambiguous` never leads to an action, only to a picker. */
type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly Server[] };

/**
 * Finds the server with a typed name: an ID, an IPv4 address or a label (exact, then in any letter case, then as phones write it,
 * then a unique prefix). `nearest` has only servers whose labels `isOffered` accepts.
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
  const offered = servers.filter(({ label }) => isOffered(label));
  return { kind: 'unknown', nearest: listNearest(wanted, offered).slice(0, MOST_SUGGESTED) };
}

/**
 * Finds the servers that a name means if the keyboard changed it. Labels that begin with the name as typed count as matches
 * too, so that a name with two readings is ambiguous.
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

/** Caches what is made of a list: many users search one list for many names. */
function perList<Made extends object>(make: (servers: readonly Server[]) => Made): typeof make {
  const known = new WeakMap<readonly Server[], Made>();
  return (servers) => {
    const made = known.get(servers) ?? make(servers);
    known.set(servers, made);
    return made;
  };
}

/** The labels of a list, in its order. */
const foldedOf = perList((servers) => ({
  labels: servers.map(({ label }) => foldLabel(label)),
  names: servers.map(({ label }) => foldName(label)),
}));

const sortedOf = perList((servers): readonly Server[] => servers.toSorted(compareServers));

function listNearest(typed: string, servers: readonly Server[]): readonly Server[] {
  const labels = servers.map(({ label }) => label);
  const nearest = new Set(findAllNearest(bareName(typed), labels));
  return servers.filter(({ label }) => nearest.has(label));
}

const MOST_SUGGESTED = 20;

/** Matches label, ID and address together: "42" may be one server's label and another server's ID. */
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
 * Lists the servers whose label, ID, address, state or note contains the filter in any letter case, by label. `noteOf` returns
 * the text of a server's note.
 */
export function filterServers(
  filter: string,
  servers: readonly Server[],
  noteOf: (server: Server) => string = () => '',
): readonly Server[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return sortedOf(servers);
  const matches = servers.filter((server) =>
    [server.label, String(server.id), server.ipv4 ?? '', server.state, noteOf(server)].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
  return matches.sort(compareServers);
}

/**
 * Whether a typed name is the server's whole label (in any letter case, or as phones write it), ID or IPv4 address, and not
 * only the beginning of its label.
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

/** The searched texts of the servers of a list, by label. Menus search it again for every letter that is typed. */
const textsOf = perList((servers) =>
  sortedOf(servers).map(({ label, id, ipv4 = '', state }) =>
    [label, id, ipv4, state].join('\0').toLowerCase(),
  ),
);

/**
 * Lists the servers that `isOffered` accepts and whose label, ID, address or state contains the filter, by label; if there are
 * none, those with the nearest labels.
 */
export function searchServers(
  filter: string,
  servers: readonly Server[],
  isOffered: (server: Server) => boolean,
): readonly Server[] {
  const [sorted, texts] = [sortedOf(servers), textsOf(servers)];
  for (const wanted of new Set([filter.trim().toLowerCase(), bareName(filter)])) {
    const offered = sorted.filter((server, at) => texts[at]?.includes(wanted) && isOffered(server));
    if (offered.length > 0) return offered;
  }
  return listNearest(filter, sorted.filter(isOffered));
}

/** Whether a typed name is a pattern: it has a `*` that no `\` escapes. */
export function isPattern(typed: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\*/.test(typed);
}

/** Lists the servers whose labels match a pattern, or match it as phones write it; leaves out deleted ones. */
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

/** The note that every surface shows about a list with the extent `part`. */
export const PART_OF_LIST = 'The hosting API returned only part of the list.';

/** Says that no listed server matches a name, as far as a list of this extent shows. `named`: the name in the surface's markup. */
export function unmatchedWords(typed: string, named: string, extent: ListExtent = 'whole'): string {
  if (extent === 'whole') return `No server matches ${named}.`;
  if (extent === 'maybe_whole') return `No listed server matches ${named}, but some servers may be missing.`;
  return isPattern(typed)
    ? `No server in the part of the list we received matches ${named}, so we can’t tell whether one exists.`
    : `${named} isn’t in the part of the list we received, so we can’t tell whether it exists.`;
}
