import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import { describeDefect, HostingError, isExpected, Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { type HeldLock, withTimeout } from '../core/locks.ts';
import type { Secret } from '../core/secret.ts';
import { auditOfOperation, findNextDue, notifyOperation, tellOwners } from './notify.ts';
import {
  ContradictoryAnswer,
  OPERATION,
  type Operation,
  refusalOf,
  unconfirmedReasonOf,
} from './operation.ts';
import { resolveUnconfirmed } from './resolve.ts';
import { sendCreate, sendRenewal, storeAnswer } from './send.ts';

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

/** The same for the owner of the operation's job. @throws only what the store throws */
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
  if (isSuccessWithoutProof(error)) await lookOnce(operation, app);
  if (refusalOf(error)) return;
  const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
  app.log.error('a payment met a defect', { operationId: operation.id, ...cause });
}

function isSuccessWithoutProof(error: unknown): boolean {
  const status = error instanceof HostingError ? (error.details.status ?? 0) : 0;
  return status >= 200 && status <= 299;
}

/** How long its actor may have to wait for the list; the background looks on. */
const LOOK_MOST_MS = 5000;

/** The list may prove what the answer didn't, before its actor reads that nobody knows (docs/hosting-api.md 4.12, 5). */
async function lookOnce({ id }: Operation, app: AppContext): Promise<void> {
  const operation = await app.ledger.find(id);
  if (operation?.state !== 'unconfirmed') return;
  const look = resolveUnconfirmed(operation, 0, app);
  await withTimeout(look, app.system, LOOK_MOST_MS).catch(() => undefined);
}

async function storeEnd(operation: Operation, error: unknown, owner: string, app: AppContext): Promise<void> {
  const { ledger } = app;
  const state = (await ledger.find(operation.id))?.state;
  const refusal = refusalOf(error);
  const at = app.system.now();
  // Confirmed and not sent: the next start carries it out.
  if (state === 'prepared' && refusal?.code === 'shutting_down') return;
  if (state === 'prepared' || (wasSent(state) && provesNothingDone(error))) {
    const reason = refusal ?? { code: 'defect', details: {} };
    const audit = auditOfOperation(operation, app, 'failed', { code: reason.code });
    await ledger.refuse(operation.id, { at, reason, owner }, audit);
  } else if (state === 'sent') {
    const reason = unconfirmedReasonOf(error);
    const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code });
    const unconfirmed = { reason, sealedAnswer: answerIn(error) };
    const isMarked = await ledger.markUnconfirmed(operation.id, unconfirmed, audit);
    if (!isMarked) await keepAnswer(operation, error, app);
    if (reason.code === 'contradiction') await ledger.markNeedsDecision(operation.id, audit, reason);
  } else {
    await keepAnswer(operation, error, app);
  }
}

/** What another process has ended meanwhile keeps what came: it may hold the root password. */
async function keepAnswer({ id }: Operation, error: unknown, { ledger, system }: AppContext): Promise<void> {
  const answer = answerIn(error);
  if (answer) await ledger.keepAnswer(id, answer, system.now());
}

/** Also by a process that has lost it to another one since: its own proof counts for what it sent itself. */
function wasSent(state: Operation['state'] | undefined): boolean {
  return state === 'sent' || state === 'unconfirmed';
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
