import { type Role, roleCovers } from '../domain/actor.ts';
import { Refusal } from '../domain/errors.ts';
import type { Grant } from './ports.ts';
import { defineUseCase, type Scene } from './use-case.ts';

/** Who has which role here, and the owners that the operator named. */
export const listAccess = defineUseCase({
  name: 'access',
  needs: 'owner',
  effect: 'reads',
  run: async (
    _input: Record<never, never>,
    scene,
  ): Promise<{ grants: readonly Grant[]; owners: readonly string[] }> => ({
    grants: await scene.services.store.grants.list(scene.actor.workspaceId),
    owners: scene.services.settings.owners,
  }),
});

/** Gives somebody a role; an earlier one is replaced. */
export const grantAccess = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { userId: string; role: Role }, scene): Promise<void> => {
    scene.about({ label: `${input.role} ${input.userId}` });
    if (!roleCovers(input.role, 'owner')) await refuseLastOwner(input.userId, scene);
    await scene.services.store.grants.put({
      workspaceId: scene.actor.workspaceId,
      subjectKind: 'user',
      subjectId: input.userId,
      role: input.role,
      grantedBy: scene.actor.userId,
      grantedAt: scene.services.system.now(),
    });
  },
});

/** Takes somebody's role away; false when they had none by grant. */
export const revokeAccess = defineUseCase({
  name: 'access_revoke',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { userId: string }, scene): Promise<boolean> => {
    scene.about({ label: input.userId });
    await refuseLastOwner(input.userId, scene);
    return scene.services.store.grants.remove(scene.actor.workspaceId, 'user', input.userId);
  },
});

/** @throws Refusal `last_owner`: nobody could give the role back */
async function refuseLastOwner(userId: string, { actor, services }: Scene): Promise<void> {
  const grants = await services.store.grants.list(actor.workspaceId);
  const owners = grants.filter(({ role }) => role === 'owner').map(({ subjectId }) => subjectId);
  const isOnlyOne = owners.length === 1 && owners[0] === userId;
  if (!isOnlyOne || services.settings.owners.length > 0) return;
  const person = await services.people.find(actor.workspaceId, actor.userId);
  if (person?.isAdmin && actor.userId !== userId) return;
  throw new Refusal('last_owner', {});
}
