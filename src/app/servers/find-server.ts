import { Refusal } from '../../domain/errors.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Server } from '../../domain/server.ts';
import { matchServer } from '../../domain/server-ref.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { CallOptions } from '../hosting-api.ts';

/** How a server was named: in words, or by the id that a button or a picker carries. */
export type ServerRef = { readonly typed: string } | { readonly id: number };

/**
 * Finds the one server that was meant, and notes it for the audit.
 * @throws Refusal `unknown_server` (with the nearest label), `ambiguous_server` (with the matches; never acts),
 * `role_needed` when the actor's role is for other servers
 */
export async function getServer(
  ref: ServerRef,
  context: UseCaseContext<unknown>,
  options?: CallOptions,
): Promise<Server> {
  const hosting = await context.hosting();
  const server = pickServer(ref, await hosting.listServers(options), context.covers);
  context.setSubject({ serverId: server.id, label: server.label });
  await context.requireRoleFor(server.label, 'id' in ref ? String(ref.id) : ref.typed);
  return server;
}

/**
 * What a name stands for does not depend on who asks: otherwise somebody whose role is for a few servers could hit
 * another one than was meant. Only what is offered instead does.
 * @throws Refusal `unknown_server`, `ambiguous_server`
 */
export function pickServer(
  ref: ServerRef,
  servers: readonly Server[],
  covers: (label: string) => boolean = () => true,
): Server {
  if ('id' in ref) {
    const server = servers.find(({ id }) => id === ref.id);
    if (server) return server;
    throw new Refusal('unknown_server', { typed: String(ref.id) });
  }
  const { typed } = ref;
  const match = matchServer(typed, servers, covers);
  if (match.kind === 'found') return match.server;
  if (match.kind === 'ambiguous') {
    const offered = match.servers.filter(({ label }) => covers(label));
    // None of them is for this person: they are told of none.
    if (offered.length === 0) throw new Refusal('unknown_server', { typed });
    throw new Refusal('ambiguous_server', { typed, servers: offered });
  }
  throw new Refusal('unknown_server', omitUndefined({ typed, nearest: match.nearest }));
}
