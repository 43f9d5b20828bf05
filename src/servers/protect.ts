import type { AppContext } from '../context.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal, type ServerAct } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { isDeleted, type NamedServer, type Server } from '../core/server.ts';
import { getServer, type ServerRef, subjectOf } from './find.ts';

/**
 * Protects a server: this app no longer stops, reboots or deletes it.
 * @throws as `getServer` does, and Refusal `unknown_server` for a server that is deleted
 */
export const protectServer = defineUseCase({
  name: 'protect',
  needs: 'owner',
  effect: 'changes',
  subject: ({ ref }) => subjectOf(ref),
  run: async ({ ref }: { ref: ServerRef }, context): Promise<Server> => {
    const server = await getServer(ref, context);
    if (isDeleted(server)) throw new Refusal('unknown_server', { typed: server.label });
    const { actor, app } = context;
    const protection = {
      serverId: server.id,
      protectedBy: actor.userId,
      protectedAt: app.system.now(),
    };
    await app.serverNotes.put('protection', actor.workspaceId, protection);
    return server;
  },
});

/** Lifts the protection of a server. @throws as `getServer` does */
export const unprotectServer = defineUseCase({
  name: 'unprotect',
  needs: 'owner',
  effect: 'changes',
  subject: ({ ref }) => subjectOf(ref),
  run: async ({ ref }: { ref: ServerRef }, context): Promise<Server> => {
    const server = await getServer(ref, context);
    await context.app.serverNotes.remove('protection', context.actor.workspaceId, server.id);
    return server;
  },
});

/** What can't be done to a protected server by any user, on any surface, approved or not. */
const PROTECTED_ACTS: readonly ServerAct[] = ['stop', 'reboot', 'delete'];

/** Refuses an act on a protected server. @throws Refusal `server_protected` */
export async function refuseProtected(
  act: ServerAct,
  server: NamedServer,
  workspaceId: WorkspaceId,
  { serverNotes }: AppContext,
): Promise<void> {
  if (!PROTECTED_ACTS.includes(act)) return;
  const protection = await serverNotes.find('protection', workspaceId, server.id);
  if (!protection) return;
  const { id, label } = server;
  const { protectedBy } = protection;
  throw new Refusal('server_protected', { server: { id, label }, act, protectedBy });
}
