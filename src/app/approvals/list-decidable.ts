import { coversRole, type HeldRoles } from '../../domain/access.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { findRoles, type RolePorts } from '../authorize/find-roles.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { Approvals } from './ports.ts';

/** Where pending approvals are read from. */
export interface DecidablePorts extends RolePorts {
  readonly approvals: Pick<Approvals, 'listOpen'>;
}

/** The pending approvals that the actor may decide, oldest first: other users', for servers that their role covers. */
export async function listDecidable(
  roles: HeldRoles,
  { actor, ports }: Pick<UseCaseContext<DecidablePorts>, 'actor' | 'ports'>,
): Promise<readonly Approval[]> {
  const open = await ports.approvals.listOpen(actor.workspaceId);
  const now = ports.system.now();
  return open.filter(
    ({ requesterId, expiresAt, action }) =>
      requesterId !== actor.userId && expiresAt > now && coversRole(roles, 'manager', labelOfAction(action)),
  );
}

/** Reads the pending approvals that the actor may decide. */
export const readDecidable = useCasesOver<DecidablePorts>()({
  name: 'approvals',
  needs: 'manager',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<readonly Approval[]> =>
    listDecidable(await findRoles(context.actor, context.ports), context),
});
