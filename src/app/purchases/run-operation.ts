import { describeDefect } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { HeldLock } from '../locks.ts';
import type { AppContext } from '../ports.ts';
import { endFailedPayment } from './end-failed-payment.ts';
import { newLease, withLease } from './lease.ts';
import { notifyOperation } from './notify-operation.ts';
import { sendCreate } from './send-create.ts';
import { sendRenewal } from './send-renewal.ts';
import { tellOwners } from './tell-owners.ts';

/**
 * Carries out a confirmed purchase: sent at most once, then settled, refused or unconfirmed, and its actor notified
 * (docs/design.md 4). Money effect: pays at most once for each operation, however often it is called.
 * @throws only what the store throws before the outcome is written: then it may still be carried out
 */
export async function runOperation(id: ConfirmationId, app: AppContext): Promise<void> {
  const { ledger } = app;
  const lease = newLease(app);
  if (!(await ledger.lease(id, lease))) return;
  await withLease(id, lease.owner, app, async () => {
    const operation = await ledger.find(id);
    if (operation?.state === 'prepared') await payOperation(operation, lease.owner, app);
    return undefined;
  });
}

/** The same for the owner of the operation's lease. @throws only what the store throws */
export async function payOperation(operation: Operation, owner: string, app: AppContext): Promise<void> {
  app.operationNotifier.announceStart(operation);
  const ended = new AbortController();
  const queued = notifyIfQueued(operation, ended.signal, app);
  const reported = await pay(operation, owner, app)
    .catch((error: unknown) => endFailedPayment(operation, error, owner, app))
    .finally(() => ended.abort());
  // The outcome must not be overtaken by words that it is queued.
  await queued;
  await tellOutcome(operation, reported ?? undefined, app).catch((error: unknown) => {
    app.log.warn('an outcome could not be told yet', {
      operationId: operation.id,
      ...describeDefect(error),
    });
  });
}

async function tellOutcome({ id }: Operation, reported: string | undefined, app: AppContext): Promise<void> {
  await notifyOperation(id, app, reported);
  const operation = await app.ledger.find(id);
  if (operation?.reason?.code === 'not_enough_balance') await tellOwners(operation, app);
}

/** A user who gets no reply for longer than this may order again. */
const SILENT_MS = 5000;

/** Behind other orders, or behind the rate limit: its actor gets one message that it was not sent yet. */
async function notifyIfQueued(operation: Operation, ended: AbortSignal, app: AppContext): Promise<void> {
  try {
    await app.system.sleep(SILENT_MS, ended);
    const now = await app.ledger.find(operation.id);
    if (now?.state === 'prepared') await app.operationNotifier.notifyQueued(now);
  } catch (error) {
    if (!ended.aborted)
      app.log.warn('a user could not be told about the queue', {
        operationId: operation.id,
        ...describeDefect(error),
      });
  }
}

/** @returns a new server's state, as the API reports it */
async function pay(operation: Operation, owner: string, app: AppContext): Promise<string | undefined> {
  const { locks, accounts } = app;
  const { purchase } = operation;
  const hosting = await getHostingOf(operation, app);
  const payment = (lock: HeldLock) => ({ operation, hosting, owner, lock, app });
  const account = await accounts.find(hosting.account);
  if (purchase.kind === 'create') {
    return locks.run(account, (lock) => sendCreate(purchase.order, payment(lock)));
  }
  const name = `${account}:${purchase.serverId}`;
  await locks.run(name, (lock) => sendRenewal(purchase, payment(lock)));
  return undefined;
}
