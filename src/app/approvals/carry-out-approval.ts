import type { Approval, DeleteEnd } from '../../domain/approval.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { PaymentPorts } from '../purchases/payment-ports.ts';
import { runOperation } from '../purchases/run-operation.ts';
import type { Protections } from '../servers/ports.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { actOf, type DeletePorts, endDelete, endOfError } from './end-delete.ts';

/** What a delete and a purchase are carried out with. */
export type CarryOutPorts = DeletePorts & PaymentPorts & { readonly protections: Pick<Protections, 'find'> };

/**
 * Does what was approved, once, whichever process takes it first, and tells how it went.
 * Money effect: a purchase is paid through the ledger (docs/design.md 4); a delete loses the rest of the paid month.
 */
export async function carryOutApproval(approval: Approval, ports: CarryOutPorts): Promise<void> {
  const { id, action } = approval;
  if (action.kind === 'purchase') await runOperation(id, ports);
  else await runDelete(approval, action.serverId, ports);
}

async function runDelete(approval: Approval, serverId: ServerId, ports: CarryOutPorts): Promise<void> {
  const started = auditOfApproval(approval, ports, { ...actOf(approval), outcome: 'started' });
  // Committed before the request is sent: of two processes that get here, only one continues.
  const running = { state: 'running', at: ports.system.now() } as const;
  if (!(await ports.approvals.move(approval.id, ['approved'], running, started))) return;
  // Protecting the server after it was approved has the last word.
  if (await ports.protections.find(approval.workspaceId, serverId)) {
    await endDelete(approval, { code: 'server_protected', details: {} }, ports);
    return;
  }
  const end = await getHostingOf(approval, ports)
    .then((hosting) => hosting.deleteServer(serverId))
    .then((): DeleteEnd => ({ code: 'done', details: {} }))
    .catch((error: unknown) => endFailed(error, approval, serverId, ports));
  await endDelete(approval, end, ports);
}

async function endFailed(
  error: unknown,
  approval: Approval,
  serverId: ServerId,
  ports: DeletePorts,
): Promise<DeleteEnd> {
  const end = await endOfError(error, approval, serverId, ports);
  if (end.code === 'defect')
    ports.log.error('an approved delete met a defect', {
      confirmationId: approval.id,
      ...describeDefect(error),
    });
  return end;
}
