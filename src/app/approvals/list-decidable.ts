import { coversRole, type HeldRoles } from '../../domain/access.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';

/** The pending approvals that the actor may decide, oldest first: other users', for servers that their role covers. */
export async function listDecidable(
  roles: HeldRoles,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<readonly Approval[]> {
  const open = await app.approvals.listOpen(actor.workspaceId);
  const now = app.system.now();
  return open.filter(
    ({ requesterId, expiresAt, action }) =>
      requesterId !== actor.userId && expiresAt > now && coversRole(roles, 'manager', labelOfAction(action)),
  );
}

/** Reads the pending approvals that the actor may decide. */
export const readDecidable = defineUseCase({
  name: 'approvals',
  needs: 'manager',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<readonly Approval[]> =>
    listDecidable(await findRoles(context.actor, context.app), context),
});
