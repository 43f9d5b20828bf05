import { Refusal } from '../domain/errors.ts';
import type { Server } from '../domain/server.ts';
import { matchServer } from '../domain/server-ref.ts';
import type { CallOptions } from './ports.ts';
import type { Scene } from './use-case.ts';

/** How a server was named: in words, or by the id that a button or a picker carries. */
export type ServerRef = { readonly typed: string } | { readonly id: number };

/**
 * Finds the one server that was meant, and notes it for the audit.
 * @throws Refusal `unknown_server` (with the nearest label), `ambiguous_server` (with the matches; never acts)
 */
export async function getServer(ref: ServerRef, scene: Scene, options?: CallOptions): Promise<Server> {
  const hosting = await scene.hosting();
  const server = pickServer(ref, await hosting.listServers(options));
  scene.about({ serverId: server.id, label: server.label });
  return server;
}

/** @throws Refusal `unknown_server`, `ambiguous_server` */
export function pickServer(ref: ServerRef, servers: readonly Server[]): Server {
  if ('id' in ref) {
    const server = servers.find(({ id }) => id === ref.id);
    if (server) return server;
    throw new Refusal('unknown_server', { typed: String(ref.id) });
  }
  const match = matchServer(ref.typed, servers);
  if (match.kind === 'found') return match.server;
  if (match.kind === 'ambiguous') {
    throw new Refusal('ambiguous_server', { typed: ref.typed, servers: match.servers });
  }
  throw new Refusal('unknown_server', {
    typed: ref.typed,
    ...(match.nearest === undefined ? {} : { nearest: match.nearest }),
  });
}
