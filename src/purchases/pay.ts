import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import { describeDefect, HostingError, isExpected, Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { hasRole, listOwners } from '../core/permission.ts';
import { withTimeout } from '../core/promises.ts';
import type { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { JobHandler } from '../db/jobs.ts';
import type { HeldLock } from '../db/locks.ts';
import { moveDelete } from '../servers/deletion.ts';
import { startFollowing } from '../servers/follow.ts';
import {
  auditOfOperation,
  ContradictoryAnswer,
  doubtedFor,
  isEnded,
  isInTime,
  isLookedFor,
  labelOf,
  OPERATION,
  type Operation,
  type OperationRefusal,
  refusalOf,
  unconfirmedReasonOf,
} from './operation.ts';
import { resolveUnconfirmed } from './resolve.ts';
import { sendCreate, sendRenewal } from './send.ts';
import { storeAnswer } from './spill.ts';

/**
 * Carries out a confirmed purchase: sent at most once, then settled, refused or unconfirmed, and its actor notified
 * (docs/design.md 4). Money effect: pays at most once for each operation, however often it is called.
 * @throws only what the store throws before the outcome is written: then it may still be carried out
 */
export async function runOperation(id: ConfirmationId, app: AppContext): Promise<void> {
  await app.jobs.runNow(OPERATION, id, async ({ owner }) => {
    const operation = await app.ledger.find(id);
    if (operation?.state === 'prepared') await payOperation(operation, owner, app);
    return findNextDue(id, app);
  });
}

/** Pays for a prepared operation, as the owner of its job, and reports the outcome. @throws only what the store throws */
async function payOperation(operation: Operation, owner: string, app: AppContext): Promise<void> {
  app.operationNotifier.announceStart(operation);
  const answered = new AbortController();
  const queued = notifyIfQueued(operation, answered.signal, app);
  const reported = await pay(operation, owner, app)
    .catch((error: unknown) => endFailedPayment(operation, error, owner, app))
    .finally(() => answered.abort());
  // The outcome must not be overtaken by words that it is queued.
  await queued;
  try {
    await notifyOperation(operation.id, app, reported ?? undefined);
    const ended = await app.ledger.find(operation.id);
    if (ended?.reason?.code === 'not_enough_balance') await notifyOwners(ended, app);
  } catch (error) {
    const operationId = operation.id;
    app.log.warn('an outcome could not be reported yet', { operationId, ...describeDefect(error) });
  }
}

/** A user who gets no reply for longer than this may order again. */
const SILENT_MS = 5000;

/** Tells the actor, once, that their order waits for other orders or for the rate limit. */
async function notifyIfQueued(operation: Operation, ended: AbortSignal, app: AppContext): Promise<void> {
  try {
    await app.system.sleep(SILENT_MS, ended);
    const now = await app.ledger.find(operation.id);
    if (now?.state === 'prepared') await app.operationNotifier.notifyQueued(now);
  } catch (error) {
    if (!ended.aborted)
      app.log.warn('a user could not be told that their order is queued', {
        operationId: operation.id,
        ...describeDefect(error),
      });
  }
}

/** Sends the operation under its lock. Returns the state of a new server, as the API reports it. */
async function pay(operation: Operation, owner: string, app: AppContext): Promise<string | undefined> {
  const { locks } = app;
  const { purchase } = operation;
  const hosting = await getHostingOf(operation, app);
  const payment = (lock: HeldLock) => ({ operation, hosting, owner, lock, app });
  // All processes agree on a key's first name: they are restarted together for another encryption key. If they aren't, one with the
  // new ring still finds what is in the way, by all names, in the transaction that commits `sent`.
  const [account] = hosting.account;
  if (purchase.kind === 'create') {
    return locks.run(account, (lock) => sendCreate(purchase.order, payment(lock)));
  }
  const name = `${account}:${purchase.serverId}`;
  await locks.run(name, (lock) => sendRenewal(purchase, payment(lock)));
  return undefined;
}

/** Ends a payment that threw: refused with proof that it was not done, unconfirmed without (docs/design.md 4.4). */
export async function endFailedPayment(
  operation: Operation,
  error: unknown,
  owner: string,
  app: AppContext,
): Promise<void> {
  const store = () => storeEnd(operation, error, owner, app);
  const password = answerIn(error);
  await (password ? storeAnswer(operation.id, { password }, store, app) : store());
  // After a 2xx without proof, the list may prove it before the actor is told that the outcome is unknown (docs/hosting-api.md
  // 4.12, 5).
  const status = error instanceof HostingError ? (error.details.status ?? 0) : 0;
  if (status >= 200 && status <= 299) await lookOnce(operation, app);
  if (refusalOf(error)) return;
  const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
  app.log.error('an unexpected error occurred during a payment', { operationId: operation.id, ...cause });
}

/** How long its actor may have to wait for the list; after that, the background keeps looking. */
const LOOK_MOST_MS = 5000;

async function lookOnce({ id }: Operation, app: AppContext): Promise<void> {
  const operation = await app.ledger.find(id);
  if (operation?.state !== 'unconfirmed') return;
  const look = resolveUnconfirmed(operation, app);
  await withTimeout(look, app.system, LOOK_MOST_MS).catch(() => undefined);
}

async function storeEnd(operation: Operation, error: unknown, owner: string, app: AppContext): Promise<void> {
  const { ledger } = app;
  const state = (await ledger.find(operation.id))?.state;
  const refusal = refusalOf(error);
  const sealedAnswer = answerIn(error);
  const at = app.system.now();
  // Confirmed and not sent: the next start carries it out.
  if (state === 'prepared' && refusal?.code === 'shutting_down') return;
  // This also holds if another process has taken the job over since: this one's proof counts for what it sent itself.
  const wasSent = state === 'sent' || state === 'unconfirmed';
  if (state === 'prepared' || (wasSent && provesNothingDone(error))) {
    const reason = refusal ?? { code: 'defect', details: {} };
    const audit = auditOfOperation(operation, app, 'failed', { code: reason.code });
    await ledger.refuse(operation.id, { at, reason, owner }, audit);
  } else if (state === 'sent') {
    const reason = unconfirmedReasonOf(error);
    const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code });
    const isMarked = await ledger.markUnconfirmed(operation.id, { reason, sealedAnswer }, audit);
    // An operation that another process has ended in the meantime keeps the answer that came: it may hold the root password.
    if (!isMarked && sealedAnswer) await ledger.keepAnswer(operation.id, sealedAnswer, app.system.now());
    if (reason.code === 'contradiction') await ledger.markNeedsDecision(operation.id, audit, reason);
  } else if (sealedAnswer) await ledger.keepAnswer(operation.id, sealedAnswer, at);
}

function answerIn(error: unknown): Secret<string> | undefined {
  const isAnswer = error instanceof HostingError || error instanceof ContradictoryAnswer;
  return isAnswer ? error.sealedAnswer : undefined;
}

function provesNothingDone(error: unknown): boolean {
  if (error instanceof HostingError) return error.moneyMoved === 'no';
  // Thrown between two tries of a request whose earlier tries were all proven not to have run.
  return error instanceof Refusal;
}

/** How long a notification is retried. After that, a password can still be shown by `/vps password`. */
const NOTIFY_MS = DAY_MS;

/** Creates the handler that continues operations, by their jobs. What fails is tried again, less and less often. */
export function createOperationHandler(app: AppContext): JobHandler {
  /** When this process first looked for an operation, on the monotonic clock, which can't be set back. */
  const firstLooks = new Map<ConfirmationId, number>();
  return async (job) => {
    const { key: id, owner } = job;
    const operation = await app.ledger.find(id);
    if (!operation) return moveDelete(job, app);
    const now = app.system.elapsed();
    const firstLook = firstLooks.get(id) ?? now;
    if (isLookedFor(operation)) firstLooks.set(id, firstLook);
    await moveOn(operation, owner, now - firstLook, app).catch((error: unknown) => {
      const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
      app.log.warn('an operation could not be continued', { operationId: id, ...cause });
    });
    const dueAt = await findNextDue(id, app);
    if (dueAt === undefined) firstLooks.delete(id);
    return dueAt;
  };
}

async function moveOn(operation: Operation, owner: string, lookedMs: number, app: AppContext): Promise<void> {
  const { ledger } = app;
  const at = app.system.now();
  if (operation.state === 'prepared') {
    // Not sent: that proves that nothing was paid, so it is carried out now, under the same rules.
    const reason = await findResumeRefusal(operation, app);
    if (!reason) return payOperation(operation, owner, app);
    const audit = auditOfOperation(operation, app, 'failed', { code: reason.code, surface: 'background' });
    await ledger.refuse(operation.id, { at, reason }, audit);
    await notifyOperation(operation.id, app);
  } else if (operation.state === 'sent') {
    // The process that sent it is gone, and the answer with it.
    const reason = { code: 'no_answer', details: {} } as const;
    const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code, surface: 'background' });
    await ledger.markUnconfirmed(operation.id, { reason }, audit);
    await notifyOperation(operation.id, app);
  } else if (isLookedFor(operation)) {
    // The actor is notified of the current state even if the lookup fails. The caller logs that failure.
    await resolveUnconfirmed(operation, app, lookedMs).finally(() => notifyOperation(operation.id, app));
  } else if (at - (operation.endedAt ?? operation.createdAt) > NOTIFY_MS) {
    await ledger.markNotified(operation, at);
  } else {
    await notifyOperation(operation.id, app);
  }
}

/** @throws Refusal `identity_unknown` while Slack can't say who the actor is: then it stays due */
async function findResumeRefusal(
  operation: Operation,
  app: AppContext,
): Promise<OperationRefusal | undefined> {
  if (!isInTime(operation, app.system.now())) return { code: 'stale_confirmation', details: {} };
  const { workspaceId, actorId: userId, channelId, purchase } = operation;
  const mayStill = await hasRole({ workspaceId, userId, channelId }, 'manager', labelOf(purchase), app);
  return mayStill ? undefined : { code: 'role_needed', details: { needed: 'manager' } };
}

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
  if (!(await app.operationNotifier.notify(operation, held, reported))) return;
  // The password stays: an accepted ephemeral message doesn't prove that its creator has seen it (docs/design.md 5.3).
  await followPurchase(operation, app);
  await ledger.markNotified(operation, app.system.now());
}

/** Does the same as the owner of the operation's job, so that no other process notifies them, too. Never throws: it stays due. */
export async function notifyNow(id: ConfirmationId, app: AppContext): Promise<void> {
  await app.jobs
    .runNow(OPERATION, id, async () => {
      await notifyOperation(id, app);
      return findNextDue(id, app);
    })
    .catch(() => undefined);
}

/** Tells the owners, at most once a day, that the balance was too low for an order: they can top it up. */
async function notifyOwners(operation: Operation, app: AppContext): Promise<void> {
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

/** When an operation is due again; undefined when it has ended and its actor was notified. @throws what the store throws */
async function findNextDue(id: ConfirmationId, { ledger, system }: AppContext): Promise<number | undefined> {
  const operation = await ledger.find(id);
  if (!operation) return undefined;
  const isOver = operation.notifiedAt !== undefined && isEnded(operation) && !isLookedFor(operation);
  return isOver ? undefined : nextDueAt(operation, system.now());
}

/**
 * Returns when an operation is looked at next: first within seconds, then less and less often, with no end. A look comes after
 * half of the time since the order was sent, 5 minutes at most, and later after a twelfth of it, a day at most; a notification
 * is tried at least every 5 minutes.
 */
export function nextDueAt(operation: Operation, now: number): number {
  const { notifiedAt, endedAt, createdAt } = operation;
  const isLooking = notifiedAt !== undefined && isLookedFor(operation);
  // A clock that was set back, perhaps by a year, must not let it be tried every moment until then.
  const passed = Math.abs(isLookedFor(operation) ? doubtedFor(operation, now) : now - (endedAt ?? createdAt));
  const nextMs = Math.min(Math.max(passed / 2, 1500), 5 * MINUTE_MS);
  return Math.round(now + (isLooking ? Math.min(Math.max(nextMs, passed / 12), DAY_MS) : nextMs));
}
