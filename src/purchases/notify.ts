import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { listOwners } from '../core/permission.ts';
import { DAY_MS } from '../core/time.ts';
import { startFollowing } from '../servers/follow.ts';
import { labelOf, type Operation } from './operation.ts';

/**
 * Notifies the actor of an operation's state, and delivers the root password if one is held. `reported` is a new
 * server's state, as the API has just reported it.
 * If delivery fails, the background retries it, even after a restart (docs/design.md 5).
 */
export async function notifyOperation(id: ConfirmationId, app: AppContext, reported?: string): Promise<void> {
  const { ledger, passwords } = app;
  const operation = await ledger.find(id);
  if (!operation || operation.notifiedAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the actor from learning the outcome itself.
  const held = await passwords.find(id).catch(() => undefined);
  const { isNotified } = await app.operationNotifier.notify(operation, held, reported);
  // The password stays: an accepted ephemeral message doesn't prove that its creator has seen it (docs/design.md 5.3).
  if (isNotified) await followPurchase(operation, app);
  if (isNotified) await ledger.markNotified(operation, app.system.now());
}

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

/** The audit entry of an operation's change of state, by the user who confirmed it. */
export function auditOfOperation(
  operation: Operation,
  { system }: AppContext,
  outcome: AuditEntry['outcome'],
  more: Partial<Pick<AuditEntry, 'actorId' | 'code' | 'serverId' | 'surface'>> = {},
): AuditEntry {
  const { id, workspaceId, actorId, channelId, purchase, price } = operation;
  const serverId = purchase.kind === 'renew' ? purchase.serverId : undefined;
  return {
    at: system.now(),
    workspaceId,
    actorId,
    surface: 'modal',
    action: purchase.kind,
    actId: id,
    operationId: id,
    label: labelOf(purchase),
    outcome,
    channelId,
    serverId,
    money: price,
    ...more,
  };
}

/**
 * Follows a server that was paid for: a new one until it runs and has an address, a renewed one until the list shows its new
 * date. Sends nothing that costs money. Never throws.
 */
async function followPurchase(operation: Operation, app: AppContext): Promise<void> {
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
