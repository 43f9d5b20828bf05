import { describeDefect } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { HeldLock } from '../locks.ts';
import { endFailedPayment } from './end-failed-payment.ts';
import { newLease, withLease } from './lease.ts';
import { notifyOperation } from './notify-operation.ts';
import type { PaymentPorts } from './payment-ports.ts';
import { sendCreate } from './send-create.ts';
import { sendRenewal } from './send-renewal.ts';
import { tellOwners } from './tell-owners.ts';

/**
 * Carries out a confirmed purchase: sent at most once, then settled, refused or unconfirmed, and its actor notified
 * (docs/design.md 4). Money effect: pays at most once for each operation, however often it is called.
 * @throws only what the store throws before the outcome is written: then it may still be carried out
 */
export async function runOperation(id: ConfirmationId, ports: PaymentPorts): Promise<void> {
  const { ledger } = ports;
  const lease = newLease(ports);
  if (!(await ledger.lease(id, lease))) return;
  await withLease(id, lease.owner, ports, async () => {
    const operation = await ledger.find(id);
    if (operation?.state === 'prepared') await payOperation(operation, lease.owner, ports);
    return undefined;
  });
}

/** The same for the owner of the operation's lease. @throws only what the store throws */
export async function payOperation(operation: Operation, owner: string, ports: PaymentPorts): Promise<void> {
  ports.operationNotifier.announceStart(operation);
  const ended = new AbortController();
  const queued = notifyIfQueued(operation, ended.signal, ports);
  const reported = await pay(operation, owner, ports)
    .catch((error: unknown) => endFailedPayment(operation, error, owner, ports))
    .finally(() => ended.abort());
  // The outcome must not be overtaken by words that it is queued.
  await queued;
  await tellOutcome(operation, reported ?? undefined, ports).catch((error: unknown) => {
    ports.log.warn('an outcome could not be told yet', {
      operationId: operation.id,
      ...describeDefect(error),
    });
  });
}

async function tellOutcome(
  { id }: Operation,
  reported: string | undefined,
  ports: PaymentPorts,
): Promise<void> {
  await notifyOperation(id, ports, reported);
  const operation = await ports.ledger.find(id);
  if (operation?.reason?.code === 'not_enough_balance') await tellOwners(operation, ports);
}

/** A user who gets no reply for longer than this may order again. */
const SILENT_MS = 5000;

/** Behind other orders, or behind the rate limit: its actor gets one message that it was not sent yet. */
async function notifyIfQueued(operation: Operation, ended: AbortSignal, ports: PaymentPorts): Promise<void> {
  try {
    await ports.system.sleep(SILENT_MS, ended);
    const now = await ports.ledger.find(operation.id);
    if (now?.state === 'prepared') await ports.operationNotifier.notifyQueued(now);
  } catch (error) {
    if (!ended.aborted)
      ports.log.warn('a user could not be told about the queue', {
        operationId: operation.id,
        ...describeDefect(error),
      });
  }
}

/** @returns a new server's state, as the API reports it */
async function pay(operation: Operation, owner: string, ports: PaymentPorts): Promise<string | undefined> {
  const { locks, accounts } = ports;
  const { purchase } = operation;
  const hosting = await getHostingOf(operation, ports);
  const payment = (lock: HeldLock) => ({ operation, hosting, owner, lock, ports });
  const account = await accounts.find(hosting.account);
  if (purchase.kind === 'create') {
    return locks.run(account, (lock) => sendCreate(purchase.order, payment(lock)));
  }
  const name = `${account}:${purchase.serverId}`;
  await locks.run(name, (lock) => sendRenewal(purchase, payment(lock)));
  return undefined;
}
