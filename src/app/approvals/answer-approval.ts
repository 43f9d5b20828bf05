import { type Approval, type CancelReason, labelOfAction } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { describeDefect, findHostingFailure, isExpected, isRefusal, Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { refuseFrozen } from '../account/refuse-frozen.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOwnRequest } from '../decisions/check-decidable.ts';
import type { AppContext } from '../ports.ts';
import { findBudget } from '../purchases/budget.ts';
import { approvalKind } from './approval-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { carryOutApproval } from './carry-out-approval.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason, requesterOf } from './recheck-approval.ts';

type Context = UseCaseContext;

export type ApprovalAnswer =
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

/** Finds an open request, for the form in which it is denied with a reason. @throws Refusal `request_over`, `own_request`, `role_needed` */
export const readApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, context): Promise<Approval> => {
    const kind = approvalKind(context.app);
    const approval = await getDecision(kind, id, context.actor);
    refuseOwnRequest(approval, context.actor);
    await context.requireRoleFor(labelOfAction(approval.action));
    return approval.state === 'open' ? approval : refuseClosed(kind, id);
  },
});

/**
 * A second user approves or denies what another one confirmed (two-person rule). What was confirmed is frozen: if
 * its price, its server, the budget, the account or the requester's role has changed since, it is canceled and nothing is
 * done; while it can't be checked whether something has, or purchases are frozen, it stays open.
 * Money effect: none yet; an approved purchase is prepared in the ledger, and `carryOutApproval` sends it.
 * @throws Refusal `request_over`, `own_request`, `role_needed`, `not_approved`, `purchases_frozen`; `approval_unsaved` when the
 * store fails
 */
export const answerApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: { id: ConfirmationId; answer: ApprovalAnswer }, context): Promise<Approval> => {
    const { actor, app, setSubject } = context;
    const kind = approvalKind(app);
    const approval = await getDecision(kind, input.id, actor);
    const { id, action, state, expiresAt } = approval;
    setSubject({ operationId: id, label: labelOfAction(action) });
    refuseOwnRequest(approval, actor);
    await context.requireRoleFor(labelOfAction(action));
    const isOpen = state === 'open' && expiresAt > app.system.now();
    const decide = () =>
      input.answer.kind === 'approve'
        ? approve(approval, context)
        : deny(approval, input.answer.reason, context);
    const isMine = isOpen && (await decide());
    if (!isMine) return refuseClosed(kind, id);
    const decided = getDecision(kind, id, actor);
    return input.answer.kind === 'approve'
      ? decided.catch((error: unknown) => refuseUnsaved(error, approval, app))
      : decided;
  },
  follow: async (approval, { app }) => {
    await notifyApproval(approval.id, app);
    if (approval.state === 'approved') await carryOutApproval(approval, app);
  },
});

function deny(
  approval: Approval,
  denialReason: string | undefined,
  { actor, app }: Context,
): Promise<boolean> {
  const denied = { state: 'denied', at: app.system.now(), by: actor.userId, denialReason } as const;
  const audit = auditOf(approval, 'denied', actor, app);
  // The label of the first entry is the server's, so that it is found by that: the reason gets its own, of the same act.
  const reason = denialReason && { ...audit, action: 'denial_reason' as const, label: denialReason };
  return app.approvals.move(approval.id, ['open'], denied, audit, ...(reason ? [reason] : []));
}

/** True if this approval or cancellation took effect; false if another one was faster. */
async function approve(approval: Approval, context: Context): Promise<boolean> {
  const { actor, app } = context;
  const at = app.system.now();
  if (approval.action.kind === 'purchase') await refuseFrozen(approval.workspaceId, app.workspaces);
  const reason = await findCancelReason(approval, app).catch(refuseUnchecked);
  if (reason) return cancel(approval, reason, context);
  // A request over budget is paid anyway: going over the budget is what was approved.
  const budget = approval.isOverBudget ? undefined : await findBudget({ actor: requesterOf(approval), app });
  const audit = auditOf(approval, 'approved', actor, app);
  const approved = await app.approvals
    .approve(approval.id, { by: actor.userId, at, budget }, audit)
    .catch((error: unknown) => refuseUnsaved(error, approval, app));
  if (approved === 'over_budget') return cancel(approval, { code: 'over_budget', details: {} }, context);
  return approved !== undefined;
}

/** Whether the approval was written is not known: what was approved may still be carried out. */
function refuseUnsaved(error: unknown, { id }: Approval, { log }: AppContext): never {
  if (isExpected(error)) throw error;
  log.error('an approval could not be saved', { approvalId: id, ...describeDefect(error) });
  throw new Refusal('approval_unsaved', {});
}

function refuseUnchecked(error: unknown): never {
  const failure = findHostingFailure(error);
  if (failure) throw new Refusal('not_approved', { reason: failure });
  if (isRefusal(error, 'identity_unknown'))
    throw new Refusal('not_approved', { reason: { code: 'identity_unknown', details: error.details } });
  throw error;
}

function cancel(approval: Approval, reason: CancelReason, { actor, app }: Context): Promise<boolean> {
  const to = { state: 'canceled', at: app.system.now(), by: actor.userId, reason } as const;
  const audit = auditOf(approval, reason.code, actor, app);
  return app.approvals.move(approval.id, [approval.state], to, audit);
}

function auditOf(
  approval: Approval,
  code: 'approved' | 'denied' | CancelReason['code'],
  { userId }: Context['actor'],
  app: AppContext,
): AuditEntry {
  return auditOfApproval(approval, app, {
    action: 'approval_answer',
    outcome: code === 'approved' || code === 'denied' ? 'done' : 'failed',
    actorId: userId,
    surface: 'button',
    code,
  });
}
