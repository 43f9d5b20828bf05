import { defineUseCase, type FollowUpContext } from '../core/entry.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { coversRole, type HeldRoles } from '../core/roles.ts';
import { getRequest, notifyRequest, refuseClosed, refuseOthersRequest } from './notify.ts';
import {
  APPROVAL_MS,
  APPROVALS,
  type Approval,
  type ApprovalAction,
  auditOfApproval,
  labelOfAction,
} from './request.ts';

export type RequestedApproval = Awaited<ReturnType<typeof requestApproval>>;

/**
 * Requests a second user's approval instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (docs/design.md 4).
 */
export async function requestApproval(
  wanted: ApprovalAction & { readonly id: ConfirmationId; readonly isOverBudget: boolean },
  { actor, app }: FollowUpContext,
) {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const requestedAt = app.system.now();
  const times = { requestedAt, expiresAt: requestedAt + APPROVAL_MS };
  const approval = { ...wanted, ...times, workspaceId, requesterId, channelId };
  const audit = auditOfApproval(approval, app, { action: 'approval_ask', outcome: 'done' });
  return app.requests.requestApproval(approval, audit);
}

/**
 * The requester withdraws what waits for another manager's approval. If it is approved at the same moment, one of the two
 * takes effect.
 * Money effect: none; what is withdrawn is never paid.
 * @throws Refusal `request_over`, `not_requester`
 */
export const withdrawApproval = defineUseCase({
  name: 'approval_withdraw',
  needs: 'anyone',
  effect: 'confirms',
  run: async (input: { id: ConfirmationId }, { actor, app, setSubject }): Promise<Approval> => {
    const approval = await getRequest(input.id, APPROVALS, actor, app);
    const { id } = approval;
    setSubject({ operationId: id, label: labelOfAction(approval) });
    refuseOthersRequest(approval, actor);
    const withdrawn = { state: 'withdrawn', at: app.system.now(), by: actor.userId } as const;
    const audit = auditOfApproval(approval, app, {
      action: 'approval_withdraw',
      outcome: 'done',
      surface: 'button',
    });
    return (await app.requests.move<Approval>(id, ['open'], withdrawn, audit)) ?? refuseClosed(id, app);
  },
  follow: (approval, { app }) => notifyRequest(approval.id, app),
});

/** The pending approvals that the actor may decide, oldest first: other users', for servers that their role covers. */
export async function listDecidable(
  roles: HeldRoles,
  { actor, app }: FollowUpContext,
): Promise<readonly Approval[]> {
  const open = await app.requests.listOpen(actor.workspaceId, APPROVALS, app.system.now());
  return open.filter(
    (approval) =>
      approval.requesterId !== actor.userId && coversRole(roles, 'manager', labelOfAction(approval)),
  );
}
