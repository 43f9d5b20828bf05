import { THE_APP } from '../../domain/actor.ts';
import type { Approval, CancelReason } from '../../domain/approval.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import type { AppContext } from '../ports.ts';
import { approvalKind } from './approval-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { lockOfDelete, runDelete } from './carry-out-approval.ts';
import { endDelete, lookForDeleted } from './end-delete.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason } from './recheck-approval.ts';

/** An approved delete that was left unsent is carried out within this time, and canceled after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** A crashed process never gets its answer, but what it sent may still be carried out for this long. */
const ORPHAN_MS = 2 * MINUTE_MS;

/** Expires approvals, and continues work that a crash or a Slack outage has interrupted (two-person rule). */
export async function sweepApprovals(app: AppContext, startedAt: number): Promise<void> {
  await sweepDecisions(approvalKind(app), startedAt, {
    list: (before) => app.approvals.listUnfinishedDeletes(before),
    resume: async ({ id }, now) => {
      // Held for as long as a living process sends it and waits for the answer.
      await app.locks.runIfFree(lockOfDelete(id), () => resume(id, now, startedAt, app));
    },
  });
}

/** The process that held the lock may have ended it since it was listed. */
async function resume(id: ConfirmationId, now: number, startedAt: number, app: AppContext): Promise<void> {
  const approval = await app.approvals.find(id);
  if (approval?.action.kind !== 'delete') return;
  const { action, state, decidedAt = now } = approval;
  if (state === 'approved') await carryOutLate(approval, action.serverId, now - decidedAt, app);
  else if (state === 'running')
    await conclude(approval, action.serverId, now - Math.max(decidedAt, startedAt) > ORPHAN_MS, app);
}

/** Approved but not started: everything is checked again, as at the approval. */
async function carryOutLate(
  approval: Approval,
  serverId: ServerId,
  passedMs: number,
  app: AppContext,
): Promise<void> {
  const isStale = passedMs > RESUME_MS;
  const reason: CancelReason | undefined = isStale
    ? { code: 'stale_confirmation', details: {} }
    : await findCancelReason(approval, app);
  if (reason) await cancel(approval, reason, app);
  else await runDelete(approval, serverId, app);
}

/** Started, and the answer was lost: the list of servers shows whether the server is gone. */
async function conclude(
  approval: Approval,
  serverId: ServerId,
  isOverdue: boolean,
  app: AppContext,
): Promise<void> {
  const { reason, isKnown } = await lookForDeleted(approval, serverId, app);
  if (isKnown || isOverdue) await endDelete(approval, reason, app);
  else app.log.debug('an approved delete has no answer yet', { confirmationId: approval.id });
}

/** Cancels it without doing anything, and notifies the requester. */
async function cancel(approval: Approval, reason: CancelReason, app: AppContext): Promise<void> {
  const audit = auditOfApproval(approval, app, {
    action: 'approval_answer',
    outcome: 'failed',
    actorId: THE_APP,
    surface: 'background',
    code: reason.code,
  });
  const to = { state: 'canceled', at: app.system.now(), reason } as const;
  const isMine = await app.approvals.move(approval.id, [approval.state], to, audit);
  if (isMine) await notifyApproval(approval.id, app);
}
