import { labelOf, type Operation } from '../../domain/operation.ts';
import type { AppContext } from '../ports.ts';
import { startFollowing } from '../servers/start-following.ts';

/**
 * Follows a server that was paid for: a new one until it runs and has an address, a renewed one until the list shows its new
 * date. Sends nothing that costs money. Never throws.
 */
export async function followPurchase(operation: Operation, app: AppContext): Promise<void> {
  const { id, workspaceId, actorId, channelId, keyGeneration, purchase, state, isLate } = operation;
  const serverId = purchase.kind === 'create' ? operation.serverId : purchase.serverId;
  // An order that is found late is announced with what the message said before.
  if (state !== 'settled' || isLate || serverId === undefined) return;
  const act = { id, workspaceId, action: purchase.kind, actorId, keyGeneration };
  const { paidUntil } = operation;
  const server = { serverId, label: labelOf(purchase), standing: 'waiting', hasChanged: false } as const;
  await startFollowing(
    { ...act, channelId },
    { ...server, paidUntil: purchase.kind === 'renew' ? paidUntil : undefined },
    app,
  );
}
