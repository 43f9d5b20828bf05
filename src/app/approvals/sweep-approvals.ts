import { THE_APP } from '../../domain/actor.ts';
import type { Approval } from '../../domain/approval.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { AppPorts } from '../ports.ts';
import { carryOutApproval, endDelete, lookForDeleted, unknownReasonOf } from './carry-out-approval.ts';
import { notifyApproval } from './notify-approval.ts';
import { findCancelReason } from './recheck-approval.ts';
import { auditOfApproval } from './request-approval.ts';

/** An approved delete that was left unsent is carried out within this time, and given back after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** Somebody may still wait for the answer to a delete: only after this time it counts as lost. */
const ANSWER_MS = 10 * MINUTE_MS;
/** Whoever changed its state is telling it just now. */
const TELLING_MS = MINUTE_MS;
/** After this time, telling is given up. */
const TELL_MS = DAY_MS;

/** Ends approvals that nobody gave, and goes on with what a dead process or a silent Slack has left (two-person rule). */
export async function sweepApprovals(ports: AppPorts, startedAt: number): Promise<void> {
  const now = ports.system.now();
  // What was begun before this process started nobody is at; what this process began, not for ever.
  const since = Math.max(startedAt, now - ANSWER_MS);
  const untold = Math.max(startedAt, now - TELLING_MS);
  for (const approval of await ports.approvals.listUnfinished({ now, since, untold })) {
    await moveOn(approval, now, since, ports).catch((error: unknown) => {
      const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
      ports.log.warn('an approval could not be moved on', { approvalId: approval.id, ...cause });
    });
  }
}

async function moveOn(approval: Approval, now: number, since: number, ports: AppPorts): Promise<void> {
  const { action, state, expiresAt, decidedAt = now } = approval;
  if (state === 'open' && expiresAt <= now) {
    await giveUp(approval, 'expired', ports);
    return;
  }
  if (action.kind === 'delete' && decidedAt < since) {
    if (state === 'approved') return resume(approval, now - decidedAt, ports);
    if (state === 'running') return conclude(approval, action.serverId, now - decidedAt, ports);
  }
  if (now - decidedAt > TELL_MS) await ports.approvals.markNotified(approval.id, state);
  else await notifyApproval(approval.id, ports);
}

/** Approved, and not begun: what it was about is looked at again, as whoever approved it did. */
async function resume(approval: Approval, passedMs: number, ports: AppPorts): Promise<void> {
  const reason = passedMs > RESUME_MS ? 'stale_confirmation' : await findCancelReason(approval, ports);
  if (reason === undefined) await carryOutApproval(approval, ports);
  else await giveUp(approval, 'void', ports, reason);
}

/** Begun, and the answer is lost: the servers say whether it is gone. */
async function conclude(
  approval: Approval,
  serverId: number,
  passedMs: number,
  ports: AppPorts,
): Promise<void> {
  const seen = await lookForDeleted(approval, serverId, ports);
  if (seen === 'gone') await endDelete(approval, 'done', ports);
  else if (passedMs > ANSWER_MS) await endDelete(approval, unknownReasonOf(seen), ports);
  else ports.log.debug('an approved delete is still waited for', { approvalId: approval.id });
}

/** Ends it without anything done, and tells it. */
async function giveUp(
  approval: Approval,
  state: 'expired' | 'void',
  ports: AppPorts,
  reason?: string,
): Promise<void> {
  const audit = auditOfApproval(approval, ports, {
    action: 'approval_answer',
    outcome: 'failed',
    actorId: THE_APP,
    surface: 'background',
    code: reason ?? state,
  });
  const to = { state, at: ports.system.now(), ...(reason ? { reason } : {}) };
  const isMine = await ports.approvals.move(approval.id, [approval.state], to, audit);
  if (isMine) await notifyApproval(approval.id, ports);
}
