import { findNearest } from './nearest.ts';
import { compareServers, type Server } from './server.ts';

/** What a typed name of a server stands for. Several matches never act: they make a picker. */
export type ServerMatch =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'ambiguous'; readonly servers: readonly Server[] }
  | { readonly kind: 'unknown'; readonly nearest?: string };

/**
 * Finds the server that a user named by label (exact, then unique prefix, any case), id or IPv4. Only labels that
 * `isOffered` lets through are suggested.
 */
export function matchServer(
  typed: string,
  servers: readonly Server[],
  isOffered: (label: string) => boolean = () => true,
): ServerMatch {
  const wanted = typed.trim();
  const lower = wanted.toLowerCase();
  if (lower === '') return { kind: 'unknown' };
  // Only the beginning can count; the letter after it keeps a sigma from being a last one.
  const begin = (label: string, letters: number) => label.slice(0, letters + 1).toLowerCase();
  const beginnings = new Map(
    servers
      .filter(({ label }) => begin(label, FIRST_LETTERS).startsWith(lower.slice(0, FIRST_LETTERS)))
      .map((server) => [server, begin(server.label, lower.length)]),
  );
  const tries: ((server: Server) => boolean)[] = [
    // A label, an id and an address share this step: "42" may be one server's label and another one's id.
    (server) => server.label === wanted || String(server.id) === wanted || server.ipv4 === wanted,
    (server) => beginnings.get(server) === lower,
    (server) => beginnings.get(server)?.startsWith(lower) ?? false,
  ];
  for (const isMeant of tries) {
    const matches = servers.filter(isMeant).sort(compareServers);
    if (matches.length > 1) return { kind: 'ambiguous', servers: matches };
    if (matches[0]) return { kind: 'found', server: matches[0] };
  }
  const nearest = findNearest(wanted, servers.map(({ label }) => label).filter(isOffered));
  return nearest === undefined ? { kind: 'unknown' } : { kind: 'unknown', nearest };
}

/** Most labels differ here, and are not put into lower case any further. */
const FIRST_LETTERS = 8;

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
