import type { Operation } from '../../domain/operation.ts';
import { DAY_MS } from '../../domain/time.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { PaymentPorts } from './payment-ports.ts';

/** Notifies the owners, at most once a day, that the balance was too low: they can top it up. */
export async function tellOwners(operation: Operation, ports: PaymentPorts): Promise<void> {
  const { workspaceId, actorId } = operation;
  const now = ports.system.now();
  const day = new Date(now).toISOString().slice(0, 10);
  // Kept until the day is over, in all processes: ten failed orders are one message.
  const isFirst = await ports.seenRequests.addFirst(`low_balance:${workspaceId}:${day}`, now + DAY_MS);
  if (!isFirst) return;
  const owners = await listOwners(workspaceId, ports);
  const others = owners.filter((id) => id !== actorId);
  if (others.length > 0) await ports.operationNotifier.notifyLowBalance(operation, others);
}
