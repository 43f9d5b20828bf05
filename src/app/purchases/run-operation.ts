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
  await pay(operation, owner, ports).catch((error: unknown) =>
    endFailedPayment(operation, error, owner, ports),
  );
  await notifyOperation(operation.id, ports).catch((error: unknown) => {
    ports.log.warn('an outcome could not be told yet', {
      operationId: operation.id,
      ...describeDefect(error),
    });
  });
}

async function pay(operation: Operation, owner: string, ports: PaymentPorts): Promise<void> {
  const { locks } = ports;
  const { purchase } = operation;
  const hosting = await getHostingOf(operation, ports);
  const payment = (lock: HeldLock) => ({ operation, hosting, owner, lock, ports });
  if (purchase.kind === 'create') {
    await locks.run(hosting.account, (lock) => sendCreate(purchase.order, payment(lock)));
  } else {
    const name = `${hosting.account}:${purchase.serverId}`;
    await locks.run(name, (lock) => sendRenewal(purchase, payment(lock)));
  }
}
