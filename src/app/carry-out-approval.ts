import type { Approval } from '../domain/approval.ts';
import { describeDefect, isExpected } from '../domain/errors.ts';
import { auditOfApproval } from './ask-approval.ts';
import { isUnanswered } from './change-power.ts';
import { runOperation } from './paid-operation.ts';
import { getHosting } from './recheck-approval.ts';
import type { Services } from './services.ts';
import { tellApproval } from './tell-approval.ts';

/**
 * Does what was approved: once, by whoever takes it first, and tells how it went.
 * Money effect: a purchase is paid through the ledger (DESIGN 4); a delete loses the rest of the paid month.
 */
export async function carryOutApproval(approval: Approval, services: Services): Promise<void> {
  if (approval.deed.kind === 'purchase') await runOperation(approval.id, services);
  else await runDelete(approval, approval.deed.serverId, services);
}

async function runDelete(approval: Approval, serverId: number, services: Services): Promise<void> {
  const { approvals } = services.store;
  const started = auditOfApproval(approval, services, { ...deletion(approval), outcome: 'started' });
  // Committed before the request leaves: of two that come to this, one goes on.
  const running = { state: 'running', at: services.system.now() } as const;
  if (!(await approvals.move(approval.id, ['approved'], running, started))) return;
  const reason = await getHosting(approval.workspaceId, services)
    .then((hosting) => hosting.deleteServer(serverId))
    .then(
      () => 'done',
      (error: unknown) => reasonOf(error, approval, serverId, services),
    );
  await endDelete(approval, reason, services);
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
  services: Services,
): Promise<string> {
  if (!isExpected(error)) {
    services.log.error('an approved delete met a defect', {
      approvalId: approval.id,
      ...describeDefect(error),
    });
    return 'defect';
  }
  if (!isUnanswered(error)) return error.code;
  const isGone = await isDeleted(approval, serverId, services);
  return isGone ? 'done' : 'no_answer';
}

/** Writes how an approved delete went, and tells it. */
export async function endDelete(approval: Approval, reason: string, services: Services): Promise<void> {
  const { approvals } = services.store;
  const outcome = reason === 'done' ? 'done' : reason === 'no_answer' ? 'in_doubt' : 'failed';
  const code = reason === 'done' ? {} : { code: reason };
  const audit = auditOfApproval(approval, services, { ...deletion(approval), outcome, ...code });
  const at = services.system.now();
  const isMine = await approvals.move(approval.id, ['running'], { state: 'ended', at, reason }, audit);
  if (isMine) await tellApproval(approval.id, services);
}

/** Whether the server of an approved delete is gone now; undefined when nobody can say. */
export async function isDeleted(
  { workspaceId }: Approval,
  serverId: number,
  services: Services,
): Promise<boolean | undefined> {
  try {
    const hosting = await getHosting(workspaceId, services);
    const servers = await hosting.listServers({ freshness: 'fresh' });
    const server = servers.find(({ id }) => id === serverId);
    return server === undefined || server.state === 'deleted';
  } catch {
    return undefined;
  }
}
