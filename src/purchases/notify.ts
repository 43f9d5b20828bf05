import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { listOwners } from '../core/permission.ts';
import { startFollowing } from '../servers/follow.ts';
import { isEnded, isLookedFor, labelOf, OPERATION, type Operation } from './operation.ts';

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

/** The same as the job of the operation, so that nobody else notifies them at the same time. Never throws: it stays due. */
export async function notifyNow(id: ConfirmationId, app: AppContext): Promise<void> {
  await app.jobs
    .runNow(OPERATION, id, async () => {
      await notifyOperation(id, app);
      return findNextDue(id, app);
    })
    .catch(() => undefined);
}

/** Notifies the owners, at most once a day, that the balance was too low: they can top it up. */
export async function tellOwners(operation: Operation, app: AppContext): Promise<void> {
  const { workspaceId, actorId } = operation;
  const now = app.system.now();
  const day = new Date(now).toISOString().slice(0, 10);
  // Kept until the day is over, in all processes: ten failed orders are one message.
  const isFirst = await app.seenRequests.addFirst(`low_balance:${workspaceId}:${day}`, now);
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
  const { id, workspaceId, actorId, channelId, account = '', purchase, state, isLate } = operation;
  const serverId = purchase.kind === 'create' ? operation.serverId : purchase.serverId;
  // An order that is found late is announced with what the message said before.
  if (state !== 'settled' || isLate || serverId === undefined) return;
  const act = { id, workspaceId, action: purchase.kind, actorId, account };
  const { paidUntil } = operation;
  const server = { serverId, label: labelOf(purchase), standing: 'waiting', hasChanged: false } as const;
  await startFollowing(
    { ...act, channelId },
    { ...server, paidUntil: purchase.kind === 'renew' ? paidUntil : undefined },
    app,
  );
}

/** What is looked for is looked for at least once a day. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** When an operation is due again; undefined when it has ended and its actor was notified. @throws what the store throws */
export async function findNextDue(
  id: ConfirmationId,
  { ledger, system }: AppContext,
): Promise<number | undefined> {
  const operation = await ledger.find(id);
  if (!operation || isOver(operation)) return undefined;
  return nextDueAt(operation, system.now());
}

function isOver(operation: Operation): boolean {
  return operation.notifiedAt !== undefined && isEnded(operation) && !isLookedFor(operation);
}

/**
 * First within seconds, then ever more rarely, without end. What is looked for waits half of the time that was spent
 * looking, 5 minutes at most, and later a twelfth of it, a day at most; a notification is tried every 5 minutes at least.
 */
export function nextDueAt(operation: Operation, now: number): number {
  const { notifiedAt, endedAt, createdAt, lookedMs } = operation;
  const isLooking = notifiedAt !== undefined && isLookedFor(operation);
  const passed = isLookedFor(operation) ? lookedMs : now - (endedAt ?? createdAt);
  const nextMs = Math.min(Math.max(passed / 2, 1500), 5 * 60_000);
  return Math.round(now + (isLooking ? Math.min(Math.max(nextMs, passed / 12), LONGEST_WAIT_MS) : nextMs));
}
