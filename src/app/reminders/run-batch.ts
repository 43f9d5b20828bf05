import type { Actor } from '../../domain/actor.ts';
import { describeDefect, type HostingError, isExpected, Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { SEND_WITHIN_MS } from '../../domain/operation.ts';
import { notifyApproval } from '../approvals/notify-approval.ts';
import { codeOf, outcomeOf, startAuditTrail } from '../authorize/audit-trail.ts';
import { hasRole } from '../authorize/find-roles.ts';
import type { HeldLock } from '../locks.ts';
import type { AppContext } from '../ports.ts';
import { confirmOne } from '../purchases/confirm-purchase.ts';
import type { OperationNotifier } from '../purchases/notifier-port.ts';
import { runOperation } from '../purchases/run-operation.ts';
import { endBatch } from './end-batch.ts';
import type { BatchedRenewal, RenewalBatch } from './ports.ts';

/** With the time of the press: a renewal isn't sent so long after it that it may have been reported as not begun. */
type PressedRenewal = BatchedRenewal & { readonly confirmedAt: number };

/** Why a renewal was not even confirmed, by its ID. */
type Failures = Map<ConfirmationId, HostingError | Refusal>;

/** A batch is one process's work at a time. */
export function batchLock(id: ConfirmationId): string {
  return `renewals ${id}`;
}

/**
 * Carries out confirmed renewals one after the other, each as its own operation, and reports the outcome of all of them to
 * their user in one message. A renewal that can't be begun in time isn't begun. If this process crashes, renewals that it had
 * begun continue like any other order, and the sweep reports the rest as not begun.
 * Money effect: pays once for each renewal.
 */
export async function runBatch(batch: RenewalBatch, actor: Actor, app: AppContext): Promise<void> {
  const failures: Failures = new Map();
  await app.locks.run(batchLock(batch.id), async (lock) => {
    const deadline = app.system.elapsed() + SEND_WITHIN_MS;
    for (const [place, renewal] of batch.renewals.entries()) {
      if (!lock.isHeld() || app.system.elapsed() > deadline) break;
      if (!(await app.renewalBatches.start(batch.id, place))) break;
      await renew({ ...renewal, confirmedAt: batch.at }, actor, lock, failures, app);
    }
    await endBatch(batch.id, failures, app);
  });
}

/** A failure of one must not keep the others from being renewed. */
async function renew(
  renewal: PressedRenewal,
  actor: Actor,
  lock: HeldLock,
  failures: Failures,
  app: AppContext,
): Promise<void> {
  try {
    if (!lock.isHeld()) return;
    const confirmed = await confirmRenewal(renewal, actor, app);
    if (!confirmed.isNew) return;
    if (confirmed.kind === 'waiting') return await notifyApproval(confirmed.approval.id, app);
    const operationNotifier = leaveToSummary(app.operationNotifier);
    await runOperation(confirmed.operation.id, { ...app, operationNotifier });
  } catch (error) {
    if (isExpected(error)) failures.set(renewal.id, error);
    // What the ledger has counts, and is reported.
    else app.log.error('a renewal failed', { operationId: renewal.id, ...describeDefect(error) });
  }
}

async function confirmRenewal(renewal: PressedRenewal, actor: Actor, app: AppContext) {
  const { id, price, confirmedAt, ...month } = renewal;
  const purchase = { kind: 'renew' as const, ...month };
  const trail = startAuditTrail(app, 'confirm', { actor, surface: 'modal' });
  const context = {
    actor,
    app,
    setSubject: trail.setSubject,
    requireRoleFor: async (label: string) => {
      const mayRenew = await hasRole(actor, 'manager', label, app);
      if (!mayRenew) throw new Refusal('role_needed', { needed: 'manager', label });
    },
  };
  return confirmOne({ id, purchase, confirmedAt, price }, context).catch(async (error: unknown) => {
    await trail.write(outcomeOf(error), codeOf(error));
    throw error;
  });
}

/** The summary reports what has ended. What is unconfirmed gets its own messages, since it goes on. */
function leaveToSummary(notifier: OperationNotifier): OperationNotifier {
  return {
    ...notifier,
    announceStart: () => undefined,
    notify: async (operation, held, reported) => {
      const hasEnded = operation.state === 'settled' || operation.state === 'refused';
      return hasEnded ? { isNotified: true } : notifier.notify(operation, held, reported);
    },
    notifyQueued: async () => undefined,
  };
}
