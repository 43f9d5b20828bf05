import type { ConfirmationId } from '../../domain/ids.ts';
import { notifyDecision } from '../decisions/notify-decision.ts';
import type { AppContext } from '../ports.ts';
import { approvalKind } from './approval-kind.ts';

/** Notifies users of an approval's state, as `notifyDecision` says. */
export async function notifyApproval(id: ConfirmationId, app: AppContext): Promise<void> {
  await notifyDecision(approvalKind(app), id);
}
