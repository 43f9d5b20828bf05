import { isIdenticalLabel, searchLabels } from './label.ts';
import { findNearest } from './nearest.ts';
import { omitUndefined } from './omit-undefined.ts';
import { compareServers, type Server } from './server.ts';

/** The servers that a typed name stands for. Several matches never act: they lead to a picker. */
export type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest?: string };

/**
 * Finds the server that was referred to by label (exact, then unique prefix, any case), ID or IPv4 address. Only labels
 * that `isOffered` lets through are suggested.
 */
export function matchServer(
  typed: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean = () => true,
): ServerMatch {
  const wanted = typed.trim();
  if (wanted === '') return { kind: 'unknown' };
  const search = searchLabels(wanted);
  const tries: ((server: Server) => boolean)[] = [
    // Labels, IDs and addresses are matched together: "42" may be one server's label and another server's ID.
    (server) =>
      isIdenticalLabel(server.label, wanted) || String(server.id) === wanted || server.ipv4 === wanted,
    (server) => search.isSame(server.label),
    (server) => search.isBeginning(server.label),
  ];
  for (const isMeant of tries) {
    const matches = servers.filter(isMeant).sort(compareServers);
    if (matches.length > 1) return { kind: 'ambiguous', servers: matches };
    if (matches[0]) return { kind: 'found', server: matches[0] };
  }
  const nearest = findNearest(wanted, servers.map(({ label }) => label).filter(isOffered));
  return { kind: 'unknown', ...omitUndefined({ nearest }) };
}

/** Keeps the servers whose label, id, address or state contains the filter, any case. */
export function filterServers(filter: string, servers: readonly Server[]): Server[] {
  const wanted = filter.trim().toLowerCase();
  return servers
    .filter((server) =>
      [server.label, String(server.id), server.ipv4 ?? '', server.state].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    )
    .sort(compareServers);
}
