import type { Server } from '../../domain/server.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { Passwords } from './ports.ts';

/** The servers whose root password the actor has not saved yet, newest first. No password is opened. */
export const listPasswords = useCasesOver<{ readonly passwords: Pick<Passwords, 'listHeld'> }>()({
  name: 'password',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<readonly Server[]> => {
    const held = await ports.passwords.listHeld(actor.workspaceId);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    return mine.map(({ serverId: id, label }) => ({ id, label, state: '' }));
  },
});
