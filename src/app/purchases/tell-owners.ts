import type { Operation } from '../../domain/operation.ts';
import { DAY_MS } from '../../domain/time.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { AppContext } from '../ports.ts';

/** Notifies the owners, at most once a day, that the balance was too low: they can top it up. */
export async function tellOwners(operation: Operation, app: AppContext): Promise<void> {
  const { workspaceId, actorId } = operation;
  const now = app.system.now();
  const day = new Date(now).toISOString().slice(0, 10);
  // Kept until the day is over, in all processes: ten failed orders are one message.
  const isFirst = await app.seenRequests.addFirst(`low_balance:${workspaceId}:${day}`, now + DAY_MS);
  if (!isFirst) return;
  const owners = await listOwners(workspaceId, app);
  const others = owners.filter((id) => id !== actorId);
  if (others.length > 0) await app.operationNotifier.notifyLowBalance(operation, others);
}
