import { type Approval, type CancelReason, labelOfAction } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { describeDefect, findHostingFailure, isExpected, isRefusal, Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { refuseFrozen } from '../account/refuse-frozen.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOwnRequest } from '../decisions/check-decidable.ts';
import { type BudgetPorts, findBudget } from '../purchases/budget.ts';
import { approvalKind } from './approval-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { type CarryOutPorts, carryOutApproval } from './carry-out-approval.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason, type RecheckPorts, requesterOf } from './recheck-approval.ts';

/** Deciding checks again what was confirmed, within the budget, and is followed by carrying it out. */
export type AnswerPorts = RecheckPorts & CarryOutPorts & BudgetPorts;

const defineUseCase = useCasesOver<AnswerPorts>();
type Context = UseCaseContext<AnswerPorts>;

export type ApprovalAnswer =
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

/** Finds an open request, for the form in which it is denied with a reason. @throws Refusal `request_over`, `own_request`, `role_needed` */
export const readApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, context): Promise<Approval> => {
    const kind = approvalKind(context.ports);
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
    const { actor, ports, setSubject } = context;
    const kind = approvalKind(ports);
    const approval = await getDecision(kind, input.id, actor);
    const { id, action, state, expiresAt } = approval;
    setSubject({ operationId: id, label: labelOfAction(action) });
    refuseOwnRequest(approval, actor);
    await context.requireRoleFor(labelOfAction(action));
    const isOpen = state === 'open' && expiresAt > ports.system.now();
    const decide = () =>
      input.answer.kind === 'approve'
        ? approve(approval, context)
        : deny(approval, input.answer.reason, context);
    const isMine = isOpen && (await decide());
    if (!isMine) return refuseClosed(kind, id);
    const decided = getDecision(kind, id, actor);
    return input.answer.kind === 'approve'
      ? decided.catch((error: unknown) => refuseUnsaved(error, approval, ports))
      : decided;
  },
  follow: async (approval, { ports }) => {
    await notifyApproval(approval.id, ports);
    if (approval.state === 'approved') await carryOutApproval(approval, ports);
  },
});

function deny(
  approval: Approval,
  denialReason: string | undefined,
  { actor, ports }: Context,
): Promise<boolean> {
  const denied = { state: 'denied', at: ports.system.now(), by: actor.userId, denialReason } as const;
  const audit = auditOf(approval, 'denied', actor, ports);
  // The label of the first entry is the server's, so that it is found by that: the reason gets its own, of the same act.
  const reason = denialReason && { ...audit, action: 'denial_reason' as const, label: denialReason };
  return ports.approvals.move(approval.id, ['open'], denied, audit, ...(reason ? [reason] : []));
}

/** True if this approval or cancellation took effect; false if another one was faster. */
async function approve(approval: Approval, context: Context): Promise<boolean> {
  const { actor, ports } = context;
  const at = ports.system.now();
  if (approval.action.kind === 'purchase') await refuseFrozen(approval.workspaceId, ports.workspaces);
  const reason = await findCancelReason(approval, ports).catch(refuseUnchecked);
  if (reason) return cancel(approval, reason, context);
  // A request over budget is paid anyway: going over the budget is what was approved.
  const budget = approval.isOverBudget
    ? undefined
    : await findBudget({ actor: requesterOf(approval), ports });
  const audit = auditOf(approval, 'approved', actor, ports);
  const approved = await ports.approvals
    .approve(approval.id, { by: actor.userId, at, budget }, audit)
    .catch((error: unknown) => refuseUnsaved(error, approval, ports));
  if (approved === 'over_budget') return cancel(approval, { code: 'over_budget', details: {} }, context);
  return approved !== undefined;
}

/** Whether the approval was written is not known: what was approved may still be carried out. */
function refuseUnsaved(error: unknown, { id }: Approval, { log }: AnswerPorts): never {
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

function cancel(approval: Approval, reason: CancelReason, { actor, ports }: Context): Promise<boolean> {
  const to = { state: 'canceled', at: ports.system.now(), by: actor.userId, reason } as const;
  const audit = auditOf(approval, reason.code, actor, ports);
  return ports.approvals.move(approval.id, [approval.state], to, audit);
}

function auditOf(
  approval: Approval,
  code: 'approved' | 'denied' | CancelReason['code'],
  { userId }: Context['actor'],
  ports: AnswerPorts,
): AuditEntry {
  return auditOfApproval(approval, ports, {
    action: 'approval_answer',
    outcome: code === 'approved' || code === 'denied' ? 'done' : 'failed',
    actorId: userId,
    surface: 'button',
    code,
  });
}
