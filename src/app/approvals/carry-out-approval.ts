import type { Approval, DeleteEnd } from '../../domain/approval.ts';
import { describeDefect, findHostingFailure, isRefusal } from '../../domain/errors.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { PaymentPorts } from '../purchases/payment-ports.ts';
import { runOperation } from '../purchases/run-operation.ts';
import type { Protections } from '../servers/ports.ts';
import { type DeleteOutcome, sendDelete } from '../servers/send-delete.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { actOf, type DeletePorts, endDelete } from './end-delete.ts';

/** What a delete and a purchase are carried out with. */
export type CarryOutPorts = DeletePorts & PaymentPorts & { readonly protections: Pick<Protections, 'find'> };

/**
 * Carries out what was approved, once, in whichever process takes it first, and reports the outcome.
 * Money effect: a purchase is paid through the ledger (docs/design.md 4); a delete loses the rest of the paid month.
 */
export async function carryOutApproval(approval: Approval, ports: CarryOutPorts): Promise<void> {
  const { id, action } = approval;
  if (action.kind === 'purchase') return runOperation(id, ports);
  await ports.locks.runIfFree(lockOfDelete(id), () => runDelete(approval, action.serverId, ports));
}

/** The process that sends an approved delete holds this until the answer arrives, so that others see that it is running. */
export function lockOfDelete(id: ConfirmationId): string {
  return `approved ${id}`;
}

/** The same for the holder of that lock. */
export async function runDelete(approval: Approval, serverId: ServerId, ports: CarryOutPorts): Promise<void> {
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
    .then((hosting) => sendDelete(serverId, hosting))
    .then((outcome) => endOf(outcome, approval, ports))
    .catch((error: unknown) => endFailed(error, approval, ports));
  await endDelete(approval, end, ports);
}

/** Another account may have been connected while the answer was awaited: then its servers could not be looked for there. */
async function endOf({ kind }: DeleteOutcome, approval: Approval, ports: DeletePorts): Promise<DeleteEnd> {
  if (kind === 'gone') return { code: 'done', details: {} };
  const isOther = await getHostingOf(approval, ports).then(
    () => false,
    (error: unknown) => isRefusal(error, 'account_changed'),
  );
  return { code: isOther ? 'lost_account' : 'no_answer', details: {} };
}

/** Proof that it was not deleted, or a defect. */
function endFailed(error: unknown, { id }: Approval, ports: DeletePorts): DeleteEnd {
  const failure = findHostingFailure(error);
  if (failure && failure.code !== 'unreadable_answer' && failure.code !== 'unknown_code') return failure;
  ports.log.error('an approved delete met a defect', { confirmationId: id, ...describeDefect(error) });
  return { code: 'defect', details: {} };
}
