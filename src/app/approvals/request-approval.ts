import { APPROVAL_MS, type Approval, type ApprovalAction } from '../../domain/approval.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import { auditOfApproval } from './audit-of-approval.ts';

export interface RequestedApproval {
  /** False when it, or the like, was requested before. */
  readonly isNew: boolean;
  readonly approval: Approval;
}

/** What has to be approved before it is done. */
export interface WantedApproval {
  readonly id: ConfirmationId;
  readonly action: ApprovalAction;
  readonly isOverBudget: boolean;
}

/**
 * Requests a second user's approval instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (docs/design.md 4).
 * @throws Refusal `other_workspace`
 */
export async function requestApproval(
  wanted: WantedApproval,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<RequestedApproval> {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const requestedAt = app.system.now();
  const approval = {
    ...wanted,
    workspaceId,
    requesterId,
    requestedAt,
    expiresAt: requestedAt + APPROVAL_MS,
    channelId,
  };
  const audit = auditOfApproval(approval, app, { action: 'approval_ask', outcome: 'done' });
  const requested = await app.approvals.request(approval, audit);
  if (requested.approval.workspaceId !== workspaceId) throw new Refusal('other_workspace', {});
  return requested;
}
