import type { Server } from '../../domain/server.ts';
import { defineUseCase } from '../authorize/use-case.ts';

/** The servers whose root password the actor has not saved yet, newest first. No password is opened. */
export const listPasswords = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly Server[]> => {
    const held = await app.passwords.listHeld(actor.workspaceId);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    return mine.map(({ serverId: id, label }) => ({ id, label, state: '' }));
  },
});
