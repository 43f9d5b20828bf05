import { THE_APP } from '../../domain/actor.ts';
import type { Approval } from '../../domain/approval.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import type { Services } from '../services.ts';
import { carryOutApproval, endDelete, lookForDeleted, unknownReasonOf } from './carry-out-approval.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason } from './recheck-approval.ts';
import { auditOfApproval } from './request-approval.ts';

/** An approved delete that was left unsent is carried out within this time, and given back after it. */
const RESUME_MS = 5 * 60_000;
/** Somebody may still wait for the answer to a delete: only after this time it counts as lost. */
const ANSWER_MS = 10 * 60_000;
/** Whoever changed its state is telling it just now. */
const TELLING_MS = 60_000;
/** After this time, telling is given up. */
const TELL_MS = 24 * 3_600_000;

/** Ends approvals that nobody gave, and goes on with what a dead process or a silent Slack has left (two-person rule). */
export async function sweepApprovals(services: Services, startedAt: number): Promise<void> {
  const now = services.system.now();
  // What was begun before this process started nobody is at; what this process began, not for ever.
  const since = Math.max(startedAt, now - ANSWER_MS);
  const untold = Math.max(startedAt, now - TELLING_MS);
  for (const approval of await services.store.approvals.listUnfinished({ now, since, untold })) {
    await moveOn(approval, now, since, services).catch((error: unknown) => {
      const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
      services.log.warn('an approval could not be moved on', { approvalId: approval.id, ...cause });
    });
  }
}

async function moveOn(approval: Approval, now: number, since: number, services: Services): Promise<void> {
  const { action, state, expiresAt, decidedAt = now } = approval;
  if (state === 'open' && expiresAt <= now) {
    await giveUp(approval, 'expired', services);
    return;
  }
  if (action.kind === 'delete' && decidedAt < since) {
    if (state === 'approved') return resume(approval, now - decidedAt, services);
    if (state === 'running') return conclude(approval, action.serverId, now - decidedAt, services);
  }
  if (now - decidedAt > TELL_MS) await services.store.approvals.markNotified(approval.id, state);
  else await notifyApproval(approval.id, services);
}

/** Approved, and not begun: what it was about is looked at again, as whoever approved it did. */
async function resume(approval: Approval, passedMs: number, services: Services): Promise<void> {
  const reason = passedMs > RESUME_MS ? 'stale_confirmation' : await findCancelReason(approval, services);
  if (reason === undefined) await carryOutApproval(approval, services);
  else await giveUp(approval, 'void', services, reason);
}

/** Begun, and the answer is lost: the servers say whether it is gone. */
async function conclude(
  approval: Approval,
  serverId: number,
  passedMs: number,
  services: Services,
): Promise<void> {
  const seen = await lookForDeleted(approval, serverId, services);
  if (seen === 'gone') await endDelete(approval, 'done', services);
  else if (passedMs > ANSWER_MS) await endDelete(approval, unknownReasonOf(seen), services);
  else services.log.debug('an approved delete is still waited for', { approvalId: approval.id });
}

/** Ends it without anything done, and tells it. */
async function giveUp(
  approval: Approval,
  state: 'expired' | 'void',
  services: Services,
  reason?: string,
): Promise<void> {
  const audit = auditOfApproval(approval, services, {
    action: 'approval_answer',
    outcome: 'failed',
    actorId: THE_APP,
    surface: 'background',
    code: reason ?? state,
  });
  const to = { state, at: services.system.now(), ...(reason ? { reason } : {}) };
  const isMine = await services.store.approvals.move(approval.id, [approval.state], to, audit);
  if (isMine) await notifyApproval(approval.id, services);
}
