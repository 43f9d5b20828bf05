import type { Approval, DeleteEnd } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { isRefusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { AppContext } from '../ports.ts';
import { findListed } from '../servers/send-delete.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { notifyApproval } from './notify-approval.ts';

/** Writes how an approved delete ended, and notifies users of it. */
export async function endDelete(approval: Approval, reason: DeleteEnd, app: AppContext): Promise<void> {
  const code = reason.code === 'done' ? undefined : reason.code;
  const audit = auditOfApproval(approval, app, { ...actOf(approval), outcome: outcomeOf(reason), code });
  const at = app.system.now();
  const isMine = await app.approvals.move(approval.id, ['running'], { state: 'ended', at, reason }, audit);
  if (isMine) await notifyApproval(approval.id, app);
}

/** The start and the end of a delete are one act in the audit. */
export function actOf({ id }: Approval) {
  return { action: 'delete' as const, actId: id };
}

function outcomeOf({ code }: DeleteEnd): AuditEntry['outcome'] {
  if (code === 'done') return 'done';
  return code === 'no_answer' || code === 'lost_account' ? 'in_doubt' : 'failed';
}

/** How a delete whose answer was lost has ended, as far as the list of servers shows. */
export interface SeenEnd {
  readonly reason: DeleteEnd;
  /** False while the server is still there, or the list could not be read. */
  readonly isKnown: boolean;
}

/** Checks whether the server of an approved delete is gone; another account's servers prove nothing. */
export async function lookForDeleted(
  approval: Approval,
  serverId: ServerId,
  app: AppContext,
): Promise<SeenEnd> {
  const isListed = await getHostingOf(approval, app)
    .then((hosting) => findListed(serverId, hosting))
    .catch((error: unknown) => (isRefusal(error, 'account_changed') ? 'other_account' : undefined));
  if (isListed === 'other_account') return { reason: { code: 'lost_account', details: {} }, isKnown: false };
  const isGone = isListed === false;
  return { reason: { code: isGone ? 'done' : 'no_answer', details: {} }, isKnown: isGone };
}
