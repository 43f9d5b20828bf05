import type { AuditSubject } from '../../domain/audit-entry.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Server } from '../../domain/server.ts';
import { matchServer } from '../../domain/server-ref.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { CallOptions } from '../hosting-api.ts';

/** How a server is referred to: as it was typed, or by the ID that a button or a picker carries. */
export type ServerRef = { readonly typed: string } | { readonly id: ServerId };

/** What the audit says an act is about before the server was looked up. */
export function subjectOf(ref: ServerRef): AuditSubject {
  return 'id' in ref ? { serverId: ref.id } : { label: ref.typed };
}

type Finding = Pick<UseCaseContext<unknown>, 'hosting' | 'covers' | 'requireRoleFor' | 'setSubject'>;

/**
 * Finds the one server that was meant, and names it in the audit.
 * @throws Refusal `unknown_server` (with the nearest label), `ambiguous_server` (with the matches; nothing is done),
 * `role_needed` when the actor's role is for other servers
 */
export async function getServer(ref: ServerRef, context: Finding, options?: CallOptions): Promise<Server> {
  const hosting = await context.hosting();
  const server = pickServer(ref, await hosting.listServers(options), context.covers);
  context.setSubject({ serverId: server.id, label: server.label });
  await context.requireRoleFor(server.label, 'id' in ref ? String(ref.id) : ref.typed);
  return server;
}

/**
 * A name means the same server for all users: otherwise a user with a role for a few servers could act on another server
 * than the one they meant. Only the suggestions depend on the user.
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
    // The user has a role for none of them, so none of them is named.
    if (offered.length === 0) throw new Refusal('unknown_server', { typed });
    throw new Refusal('ambiguous_server', { typed, servers: offered });
  }
  throw new Refusal('unknown_server', omitUndefined({ typed, nearest: match.nearest }));
}
