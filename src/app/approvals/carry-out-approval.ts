import type { Approval } from '../../domain/approval.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import { getHostingSince } from '../account/hosting-since.ts';
import type { AppPorts } from '../ports.ts';
import { runOperation } from '../purchases/run-operation.ts';
import { isUnanswered } from '../servers/change-power.ts';
import { notifyApproval } from './notify-approval.ts';
import { auditOfApproval } from './request-approval.ts';

/**
 * Does what was approved: once, by whoever takes it first, and tells how it went.
 * Money effect: a purchase is paid through the ledger (docs/design.md 4); a delete loses the rest of the paid month.
 */
export async function carryOutApproval(approval: Approval, ports: AppPorts): Promise<void> {
  if (approval.action.kind === 'purchase') await runOperation(approval.id, ports);
  else await runDelete(approval, approval.action.serverId, ports);
}

async function runDelete(approval: Approval, serverId: number, ports: AppPorts): Promise<void> {
  const { approvals } = ports;
  const started = auditOfApproval(approval, ports, { ...deletion(approval), outcome: 'started' });
  // Committed before the request leaves: of two that come to this, one goes on.
  const running = { state: 'running', at: ports.system.now() } as const;
  if (!(await approvals.move(approval.id, ['approved'], running, started))) return;
  const reason = await getHostingSince(approval.workspaceId, approval.requestedAt, ports)
    .then((hosting) => hosting.deleteServer(serverId))
    .then(
      () => 'done',
      (error: unknown) => reasonOf(error, approval, serverId, ports),
    );
  await endDelete(approval, reason, ports);
}

/** What was begun and how it ended are one act in the audit. */
function deletion({ id }: Approval) {
  return { action: 'delete', actId: id };
}

/** Without an answer, a look at the servers says whether it is gone. */
async function reasonOf(
  error: unknown,
  approval: Approval,
  serverId: number,
  ports: AppPorts,
): Promise<string> {
  if (!isExpected(error)) {
    ports.log.error('an approved delete met a defect', {
      approvalId: approval.id,
      ...describeDefect(error),
    });
    return 'defect';
  }
  if (!isUnanswered(error)) return error.code;
  const seen = await lookForDeleted(approval, serverId, ports);
  return seen === 'gone' ? 'done' : unknownReasonOf(seen);
}

/** Why nobody knows whether it was deleted. */
export function unknownReasonOf(seen: SeenAfter): string {
  return seen === 'other_account' ? 'lost_account' : 'no_answer';
}

/** Writes how an approved delete went, and tells it. */
export async function endDelete(approval: Approval, reason: string, ports: AppPorts): Promise<void> {
  const { approvals } = ports;
  const isUnknown = reason === 'no_answer' || reason === 'lost_account';
  const outcome = reason === 'done' ? 'done' : isUnknown ? 'in_doubt' : 'failed';
  const code = reason === 'done' ? {} : { code: reason };
  const audit = auditOfApproval(approval, ports, { ...deletion(approval), outcome, ...code });
  const at = ports.system.now();
  const isMine = await approvals.move(approval.id, ['running'], { state: 'ended', at, reason }, audit);
  if (isMine) await notifyApproval(approval.id, ports);
}

export type SeenAfter = 'gone' | 'there' | 'unknown' | 'other_account';

/** What the servers say of an approved delete whose answer was lost; those of another account say nothing. */
export async function lookForDeleted(
  { workspaceId, requestedAt }: Approval,
  serverId: number,
  ports: AppPorts,
): Promise<SeenAfter> {
  try {
    const hosting = await getHostingSince(workspaceId, requestedAt, ports);
    const servers = await hosting.listServers({ freshness: 'fresh' });
    const server = servers.find(({ id }) => id === serverId);
    return server === undefined || server.state === 'deleted' ? 'gone' : 'there';
  } catch (error) {
    return isExpected(error) && error.code === 'account_changed' ? 'other_account' : 'unknown';
  }
}
