import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { isExpected, Refusal } from '../../domain/errors.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { findBudget } from '../purchases/budget.ts';
import { carryOutApproval } from './carry-out-approval.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason, requesterOf } from './recheck-approval.ts';
import { auditOfApproval } from './request-approval.ts';

const defineUseCase = useCasesOver<AppPorts>();

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
    const { actor, ports, setSubject } = context;
    const { approvals } = ports;
    const approval = await approvals.find(input.approvalId);
    if (approval?.workspaceId !== actor.workspaceId) throw new Refusal('request_over', { state: 'unknown' });
    setSubject({ operationId: approval.id, label: labelOfAction(approval.action) });
    if (approval.requesterId === actor.userId) throw new Refusal('own_request', {});
    await context.requireRoleFor(labelOfAction(approval.action));
    const isOpen = approval.state === 'open' && approval.expiresAt > ports.system.now();
    const isMine = isOpen && (await (input.isApproved ? approve : deny)(approval, context));
    const now = (await approvals.find(approval.id)) ?? approval;
    // Somebody else was faster, or it has expired.
    if (!isMine) throw overOf(now);
    return now;
  },
  follow: async (approval, { ports }) => {
    await notifyApproval(approval.id, ports);
    if (approval.state === 'approved') await carryOutApproval(approval, ports);
  },
});

function overOf({ state, decidedBy }: Approval): Refusal {
  return new Refusal('request_over', {
    state: state === 'open' ? 'expired' : state,
    ...(decidedBy === undefined ? {} : { by: decidedBy }),
  });
}

function deny(approval: Approval, { actor, ports }: UseCaseContext<AppPorts>): Promise<boolean> {
  const denied = { state: 'denied', at: ports.system.now(), by: actor.userId } as const;
  return ports.approvals.move(approval.id, ['open'], denied, auditOf(approval, 'denied', actor, ports));
}

/** True when this approval, or the finding that it is void, is what counts. */
async function approve(approval: Approval, context: UseCaseContext<AppPorts>): Promise<boolean> {
  const { actor, ports } = context;
  // From before the look: a key that is set after it is too late for what is prepared now (`hosting-since.ts`).
  const at = ports.system.now();
  const reason = await findCancelReason(approval, ports).catch(refuseUnsure);
  if (reason !== undefined) return makeVoid(approval, reason, context);
  // What was asked for as more than the budget allows is paid all the same: that is what it was asked for.
  const budget = approval.isOverBudget
    ? undefined
    : await findBudget({ actor: requesterOf(approval), ports });
  const decision = { by: actor.userId, at, ...(budget ? { budget } : {}) };
  const audit = auditOf(approval, 'approved', actor, ports);
  const approved = await ports.approvals.approve(approval.id, decision, audit);
  if (approved === 'over_budget') return makeVoid(approval, 'over_budget', context);
  return approved !== undefined;
}

function refuseUnsure(error: unknown): never {
  if (!isExpected(error)) throw error;
  throw new Refusal('not_approved', { error });
}

function makeVoid(
  approval: Approval,
  reason: string,
  { actor, ports }: UseCaseContext<AppPorts>,
): Promise<boolean> {
  const to = { state: 'void', at: ports.system.now(), by: actor.userId, reason } as const;
  const audit = auditOf(approval, reason, actor, ports);
  return ports.approvals.move(approval.id, [approval.state], to, audit);
}

function auditOf(
  approval: Approval,
  code: string,
  { userId }: UseCaseContext<AppPorts>['actor'],
  ports: UseCaseContext<AppPorts>['ports'],
) {
  return auditOfApproval(approval, ports, {
    action: 'approval_answer',
    outcome: code === 'approved' || code === 'denied' ? 'done' : 'failed',
    actorId: userId,
    surface: 'button',
    code,
  });
}
