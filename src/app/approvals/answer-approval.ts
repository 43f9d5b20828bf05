import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { isExpected, Refusal } from '../../domain/errors.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { findBudget } from '../purchases/budget.ts';
import { findCancelReason, requesterOf } from './recheck-approval.ts';
import { auditOfApproval } from './request-approval.ts';

/**
 * A second person approves or denies what another one confirmed (two-person rule). What was confirmed is frozen: if
 * its price, its server, the budget, the account or the requester's role has changed since, it is void and nothing is
 * done; while nobody can say whether something has, it stays open.
 * Money effect: none yet; an approved purchase is prepared in the ledger, and `carryOutApproval` sends it.
 * @throws Refusal `request_over`, `own_request`, `role_needed`, `not_approved`
 */
export const answerApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: { approvalId: string; isApproved: boolean }, context): Promise<Approval> => {
    const { actor, services, setSubject } = context;
    const { approvals } = services.store;
    const approval = await approvals.find(input.approvalId);
    if (approval?.workspaceId !== actor.workspaceId) throw new Refusal('request_over', { state: 'unknown' });
    setSubject({ operationId: approval.id, label: labelOfAction(approval.action) });
    if (approval.requesterId === actor.userId) throw new Refusal('own_request', {});
    await context.requireRoleFor(labelOfAction(approval.action));
    const isOpen = approval.state === 'open' && approval.expiresAt > services.system.now();
    const isMine = isOpen && (await (input.isApproved ? approve : deny)(approval, context));
    const now = (await approvals.find(approval.id)) ?? approval;
    // Somebody else was faster, or it has expired.
    if (!isMine) throw overOf(now);
    return now;
  },
});

function overOf({ state, decidedBy }: Approval): Refusal {
  return new Refusal('request_over', {
    state: state === 'open' ? 'expired' : state,
    ...(decidedBy === undefined ? {} : { by: decidedBy }),
  });
}

function deny(approval: Approval, { actor, services }: UseCaseContext): Promise<boolean> {
  const denied = { state: 'denied', at: services.system.now(), by: actor.userId } as const;
  return services.store.approvals.move(
    approval.id,
    ['open'],
    denied,
    auditOf(approval, 'denied', actor, services),
  );
}

/** True when this approval, or the finding that it is void, is what counts. */
async function approve(approval: Approval, context: UseCaseContext): Promise<boolean> {
  const { actor, services } = context;
  // From before the look: a key that is set after it is too late for what is prepared now (`hosting-since.ts`).
  const at = services.system.now();
  const reason = await findCancelReason(approval, services).catch(refuseUnsure);
  if (reason !== undefined) return makeVoid(approval, reason, context);
  // What was asked for as more than the budget allows is paid all the same: that is what it was asked for.
  const budget = approval.isOverBudget
    ? undefined
    : await findBudget({ actor: requesterOf(approval), services });
  const decision = { by: actor.userId, at, ...(budget ? { budget } : {}) };
  const audit = auditOf(approval, 'approved', actor, services);
  const approved = await services.store.approvals.approve(approval.id, decision, audit);
  if (approved === 'over_budget') return makeVoid(approval, 'over_budget', context);
  return approved !== undefined;
}

function refuseUnsure(error: unknown): never {
  if (!isExpected(error)) throw error;
  throw new Refusal('not_approved', { why: error.code, whyDetails: error.details });
}

function makeVoid(approval: Approval, reason: string, { actor, services }: UseCaseContext): Promise<boolean> {
  const to = { state: 'void', at: services.system.now(), by: actor.userId, reason } as const;
  const audit = auditOf(approval, reason, actor, services);
  return services.store.approvals.move(approval.id, [approval.state], to, audit);
}

function auditOf(
  approval: Approval,
  code: string,
  { userId }: UseCaseContext['actor'],
  services: UseCaseContext['services'],
) {
  return auditOfApproval(approval, services, {
    action: 'approval_answer',
    outcome: code === 'approved' || code === 'denied' ? 'done' : 'failed',
    actorId: userId,
    surface: 'button',
    code,
  });
}
