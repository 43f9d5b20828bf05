import type { ConfirmationId } from '../../domain/ids.ts';
import { notifyDecision } from '../decisions/notify-decision.ts';
import { approvalKind } from './approval-kind.ts';
import type { ApprovalPorts } from './ports.ts';

/** Notifies users of an approval's state, as `notifyDecision` says. */
export async function notifyApproval(id: ConfirmationId, ports: ApprovalPorts): Promise<void> {
  await notifyDecision(approvalKind(ports), id);
}
