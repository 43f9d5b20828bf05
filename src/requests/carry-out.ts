import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { describeDefect, findHostingFailure, isRefusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { runOperation } from '../purchases/pay.ts';
import { type DeleteOutcome, findListed, sendDelete } from '../servers/delete-server.ts';
import { auditOfApproval, notifyApproval } from './approval.ts';
import type { Approval, DeleteEnd } from './decision.ts';

/**
 * Carries out what was approved, once, in whichever process takes it first, and reports the outcome.
 * Money effect: a purchase is paid through the ledger (docs/design.md 4); a delete loses the rest of the paid month.
 */
export async function carryOutApproval(approval: Approval, app: AppContext): Promise<void> {
  const { id, action } = approval;
  if (action.kind === 'purchase') return runOperation(id, app);
  await app.locks.runIfFree(lockOfDelete(id), () => runDelete(approval, action.serverId, app));
}

/** The process that sends an approved delete holds this until the answer arrives, so that others see that it is running. */
export function lockOfDelete(id: ConfirmationId): string {
  return `approved ${id}`;
}

/** The same for the holder of that lock. */
export async function runDelete(approval: Approval, serverId: ServerId, app: AppContext): Promise<void> {
  const started = auditOfApproval(approval, app, { ...actOf(approval), outcome: 'started' });
  // Committed before the request is sent: of two processes that get here, only one continues.
  const running = { state: 'running', at: app.system.now() } as const;
  if (!(await app.approvals.move(approval.id, ['approved'], running, started))) return;
  // Protecting the server after it was approved has the last word.
  if (await app.protections.find(approval.workspaceId, serverId)) {
    await endDelete(approval, { code: 'server_protected', details: {} }, app);
    return;
  }
  const end = await getHostingOf(approval, app)
    .then((hosting) => sendDelete(serverId, hosting))
    .then((outcome) => endOf(outcome, approval, app))
    .catch((error: unknown) => endFailed(error, approval, app));
  await endDelete(approval, end, app);
}

/** Another account may have been connected while the answer was awaited: then its servers could not be looked for there. */
async function endOf({ kind }: DeleteOutcome, approval: Approval, app: AppContext): Promise<DeleteEnd> {
  if (kind === 'gone') return { code: 'done', details: {} };
  const isOther = await getHostingOf(approval, app).then(
    () => false,
    (error: unknown) => isRefusal(error, 'account_changed'),
  );
  return { code: isOther ? 'lost_account' : 'no_answer', details: {} };
}

/** Proof that it was not deleted, or a defect. */
function endFailed(error: unknown, { id }: Approval, app: AppContext): DeleteEnd {
  const failure = findHostingFailure(error);
  if (failure && failure.code !== 'unreadable_answer' && failure.code !== 'unknown_code') return failure;
  app.log.error('an approved delete met a defect', { confirmationId: id, ...describeDefect(error) });
  return { code: 'defect', details: {} };
}

/** Writes how an approved delete ended, and notifies users of it. */
export async function endDelete(approval: Approval, reason: DeleteEnd, app: AppContext): Promise<void> {
  const code = reason.code === 'done' ? undefined : reason.code;
  const audit = auditOfApproval(approval, app, { ...actOf(approval), outcome: outcomeOf(reason), code });
  const at = app.system.now();
  const isMine = await app.approvals.move(approval.id, ['running'], { state: 'ended', at, reason }, audit);
  if (isMine) await notifyApproval(approval.id, app);
}

/** The start and the end of a delete are one act in the audit. */
function actOf({ id }: Approval) {
  return { action: 'delete' as const, actId: id };
}

function outcomeOf({ code }: DeleteEnd): AuditEntry['outcome'] {
  if (code === 'done') return 'done';
  return code === 'no_answer' || code === 'lost_account' ? 'in_doubt' : 'failed';
}

/** How a delete whose answer was lost has ended, as far as the list of servers shows. */
interface SeenEnd {
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
