import { Refusal } from '../../domain/errors.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { getServer, type ServerRef, subjectOf } from './find-server.ts';

/** Protects a server: from now on this app won't stop, reboot or delete it. */
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
    await app.protections.put(actor.workspaceId, protection);
    return server;
  },
});

/** Lifts the protection of a server. */
export const unprotectServer = defineUseCase({
  name: 'unprotect',
  needs: 'owner',
  effect: 'changes',
  subject: ({ ref }) => subjectOf(ref),
  run: async ({ ref }: { ref: ServerRef }, context): Promise<Server> => {
    const server = await getServer(ref, context);
    await context.app.protections.remove(context.actor.workspaceId, server.id);
    return server;
  },
});
