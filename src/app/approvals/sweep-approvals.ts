import { THE_APP } from '../../domain/actor.ts';
import type { Approval, CancelReason } from '../../domain/approval.ts';
import type { ServerId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import { approvalKind } from './approval-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { type CarryOutPorts, carryOutApproval } from './carry-out-approval.ts';
import { type DeletePorts, endDelete, lookForDeleted } from './end-delete.ts';
import { notifyApproval } from './notify-approval.ts';
import type { ApprovalPorts } from './ports.ts';
import { findCancelReason, type RecheckPorts } from './recheck-approval.ts';

/** An approved delete that was left unsent is carried out within this time, and canceled after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** The answer to a delete counts as lost only after this time: a process may still be waiting for it. */
const ANSWER_MS = 10 * MINUTE_MS;
/** The answer to a dead process never comes; what it sent may still be carried out for this long after the restart. */
const ORPHAN_MS = 2 * MINUTE_MS;

export type SweepPorts = RecheckPorts & CarryOutPorts;

/** Expires approvals, and continues work that a dead process or a Slack outage has left (two-person rule). */
export async function sweepApprovals(ports: SweepPorts, startedAt: number): Promise<void> {
  await sweepDecisions(approvalKind(ports), startedAt, {
    list: (now) => ports.approvals.listUnfinishedDeletes(Math.max(startedAt, now - ANSWER_MS)),
    resume: async (approval, now) => {
      const { action, state, decidedAt = now } = approval;
      if (action.kind !== 'delete') return;
      if (state === 'approved') await carryOutLate(approval, now - decidedAt, ports);
      else {
        const isOrphaned = decidedAt < startedAt && now - startedAt > ORPHAN_MS;
        await conclude(approval, action.serverId, isOrphaned || now - decidedAt > ANSWER_MS, ports);
      }
    },
  });
}

/** Approved but not started: everything is checked again, as at the approval. */
async function carryOutLate(approval: Approval, passedMs: number, ports: SweepPorts): Promise<void> {
  const isStale = passedMs > RESUME_MS;
  const reason: CancelReason | undefined = isStale
    ? { code: 'stale_confirmation', details: {} }
    : await findCancelReason(approval, ports);
  if (reason) await cancel(approval, reason, ports);
  else await carryOutApproval(approval, ports);
}

/** Started, and the answer was lost: the list of servers shows whether the server is gone. */
async function conclude(
  approval: Approval,
  serverId: ServerId,
  isOverdue: boolean,
  ports: DeletePorts,
): Promise<void> {
  const { reason, isKnown } = await lookForDeleted(approval, serverId, ports);
  if (isKnown || isOverdue) await endDelete(approval, reason, ports);
  else ports.log.debug('an approved delete has no answer yet', { confirmationId: approval.id });
}

/** Cancels it without doing anything, and notifies the requester. */
async function cancel(approval: Approval, reason: CancelReason, ports: ApprovalPorts): Promise<void> {
  const audit = auditOfApproval(approval, ports, {
    action: 'approval_answer',
    outcome: 'failed',
    actorId: THE_APP,
    surface: 'background',
    code: reason.code,
  });
  const to = { state: 'canceled', at: ports.system.now(), reason } as const;
  const isMine = await ports.approvals.move(approval.id, [approval.state], to, audit);
  if (isMine) await notifyApproval(approval.id, ports);
}
