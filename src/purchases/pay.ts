import { findSearchedAccount, getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import { describeDefect, HostingError, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { AccountNames, ConfirmationId, ServerId } from '../core/ids.ts';
import { isIdenticalLabel, isSameLabel } from '../core/labels.ts';
import { hasRole, listOwners } from '../core/permission.ts';
import { withTimeout } from '../core/promises.ts';
import type { Secret } from '../core/secret.ts';
import { isDeleted, type Server, type ServerList } from '../core/server.ts';
import { DIGEST } from '../core/settings.ts';
import { DAY_MS } from '../core/time.ts';
import type { JobHandler } from '../db/jobs.ts';
import { moveDelete } from '../servers/deletion.ts';
import {
  auditOfOperation,
  CLOCK_SLACK_MS,
  ContradictoryAnswer,
  claimOf,
  doubtedFor,
  isInTime,
  isLookedFor,
  isOnlyDecided,
  labelOf,
  NOTIFY_MS,
  OPERATION,
  type Operation,
  type OperationRefusal,
  type Purchase,
  refusalOf,
  type UnconfirmedReason,
  unconfirmedReasonOf,
} from './operation.ts';
import { endUnsent, followServer, MarkUnknown, sendCreate, sendRenewal } from './send.ts';
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
    return app.ledger.findNextDue(id, app.system.now());
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
  // The outcome must not be overtaken by words that it hasn't been sent.
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

async function notifyIfQueued(operation: Operation, ended: AbortSignal, app: AppContext): Promise<void> {
  const { id: operationId } = operation;
  try {
    await app.system.sleep(SILENT_MS, ended);
    const now = await app.ledger.find(operationId);
    if (now?.state === 'prepared') await app.operationNotifier.notifyQueued(now);
  } catch (error) {
    const words = 'a user could not be told that their order waits to be sent';
    if (!ended.aborted) app.log.warn(words, { operationId, ...describeDefect(error) });
  }
}

/**
 * Sends the operation. Returns the state of a new server, as the API reports it. Creates of one account take turns in this process, so
 * that only a few look at a time; across processes, `markSent` lets one pass.
 */
async function pay(operation: Operation, owner: string, app: AppContext): Promise<string | undefined> {
  const { purchase } = operation;
  const payment = { operation, owner, app };
  if (purchase.kind === 'create') {
    const [account] = (await getHostingOf(operation, app)).account;
    return app.takeTurn(account, () => sendCreate(purchase.order, payment));
  }
  await sendRenewal(purchase, payment);
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
  const notifyUnsaved = () => app.operationNotifier.notifyUnsaved(operation);
  // Only this process has the proof. What a stop kept from being sent is left to the next start.
  const hasProof = provesNothingDone(error) && !isRefusal(error, 'shutting_down');
  if (password) await storeAnswer(operation.id, { password }, store, app);
  else await (hasProof ? endUnsent(operation, store, app, notifyUnsaved) : store());
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

/** Looks now whether a list proves what became of an unconfirmed operation. Throws only what the store throws. */
export async function lookOnce({ id }: Operation, app: AppContext): Promise<void> {
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
  const isUnclear =
    error instanceof ContradictoryAnswer || (error instanceof HostingError && !provesNothingDone(error));
  if ((state === 'prepared' && !isUnclear) || (wasSent && provesNothingDone(error))) {
    const reason = refusal ?? { code: 'defect', details: {} };
    const audit = auditOfOperation(operation, app, 'failed', { code: reason.code });
    await ledger.refuse(operation.id, { at, reason, owner }, audit);
  } else if (state === 'sent' || state === 'prepared') {
    // `prepared` after an answer to what was sent: the database has lost the mark, as a failover can.
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
  return error instanceof Refusal || error instanceof MarkUnknown;
}

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
    const dueAt = await app.ledger.findNextDue(id, app.system.now());
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
  } else if (operation.state === 'sent') {
    // The process that sent it is gone, and the answer with it.
    const reason = { code: 'no_answer', details: {} } as const;
    const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code, surface: 'background' });
    await ledger.markUnconfirmed(operation.id, { reason }, audit);
  } else if (isLookedFor(operation)) {
    // The actor is notified of the current state even if the lookup fails. The caller logs that failure.
    return resolveUnconfirmed(operation, app, lookedMs).finally(() => notifyOperation(operation.id, app));
  } else if (at - (operation.endedAt ?? operation.createdAt) > NOTIFY_MS) {
    return ledger.markNotified(operation, at);
  }
  await notifyOperation(operation.id, app);
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
  const { workspaceId, purchase } = operation;
  const dueAt = app.system.now() + EDIT_DIGEST_MS;
  if (purchase.kind === 'renew')
    await app.jobStore.add({ kind: DIGEST, key: workspaceId, workspaceId, dueAt });
  // A lost encryption key must not keep the actor from learning the outcome itself.
  const held = await passwords.find(id).catch(() => undefined);
  if (!(await app.operationNotifier.notify(operation, held, reported))) return;
  // The password stays: an accepted ephemeral message doesn't prove that its creator has seen it (docs/design.md 5.3).
  // An order that is found late is announced with what the message said before; of one that was only decided, no one knows whether
  // that is its server, and no list would show its date.
  if (operation.state === 'settled' && !operation.isLate && !isOnlyDecided(operation))
    await followServer(operation, app);
  await ledger.markNotified(operation, app.system.now());
}

/** The digest lists renewals, and is edited once for several that follow each other: each puts its job off. */
const EDIT_DIGEST_MS = 2000;

/** Does the same as the owner of the operation's job, so that no other process notifies them, too. Never throws: it stays due. */
export async function notifyNow(id: ConfirmationId, app: AppContext): Promise<void> {
  await app.jobs
    .runNow(OPERATION, id, async () => {
      await notifyOperation(id, app);
      return app.ledger.findNextDue(id, app.system.now());
    })
    .catch(() => undefined);
}

/** Notifies the owners, at most once a day, that the balance was too low for an order: they can top it up. */
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
 * Looks once for the outcome of an operation: one that is unconfirmed, or that was ended without proof. Ends it if the
 * outcome is certain. After long enough, a manager has to decide, too (docs/design.md 4.8).
 * `lookedMs`: how long this process has looked for it by the monotonic clock.
 * Money effect: none; nothing is ever sent again.
 * @throws HostingError if the list can't be read
 */
async function resolveUnconfirmed(operation: Operation, app: AppContext, lookedMs = 0): Promise<void> {
  const doubtedMs = doubtedFor(operation, app.system.now());
  // A clock that was set back only leads to an earlier decision.
  const isOverdue =
    Math.max(doubtedMs, lookedMs) >= app.settings.unconfirmedMs || doubtedMs < -CLOCK_SLACK_MS;
  // Until then its answer may still come, or what it ordered appear, whatever became of the key.
  const leave = async (code?: UnconfirmedReason['code']) => {
    if (isOverdue) await leaveToManager(operation, code, app);
  };
  const account = await findSearchedAccount(operation, app);
  if (account.kind !== 'same') return leave(account.kind === 'none' ? 'no_api_key' : 'account_changed');
  const { hosting } = account;
  const how = { freshness: 'fresh', urgency: 'background' } as const;
  const list = await hosting.fetchServers(how).catch(async (error: unknown) => {
    const isRejected = error instanceof HostingError && error.code === 'unauthorized';
    await leave(isRejected ? 'key_rejected' : undefined);
    throw error;
  });
  const { workspaceId, knownIds } = operation;
  const newIds = list.servers.map(({ id }) => id).filter((id) => !knownIds.includes(id));
  // An id that an earlier account of this workspace gave out may be another server here: never claimed by itself.
  const othersIds = await app.ledger.listSettledIds(hosting.account, newIds, workspaceId);
  const hasRival = await findRival(operation, hosting.account, app);
  const verdict = judge(operation, { list, othersIds, hasRival, now: app.system.now() });
  const isSettled = verdict.kind === 'done' && (await settleFound(operation, verdict, app));
  if (isSettled) return;
  if (verdict.kind === 'nothing_yet') await leave(list.extent === 'whole' ? 'not_found_yet' : undefined);
  // Another order may have made what was found.
  else await leave('contradiction');
}

/** Whether another order may have made what is found: of the same label, or of the same server's months since. */
async function findRival(
  operation: Operation,
  account: AccountNames,
  { ledger }: AppContext,
): Promise<boolean> {
  const { id, purchase, workspaceId, createdAt } = operation;
  if (purchase.kind === 'create') {
    const creates = await ledger.listUnresolvedCreates(account, workspaceId);
    return creates.some(
      (other) => other.id !== id && isSameLabel(labelOf(other.purchase), labelOf(purchase)),
    );
  }
  const renewals = await ledger.listRenewals(account, workspaceId, purchase.serverId);
  return renewals.some((other) => {
    if (other.id === id) return false;
    // One that was ended without proof no longer holds its month.
    const mayHavePaid = other.state === 'sent' || other.state === 'settled' || isLookedFor(other);
    const isSameMonth = claimOf(other.purchase) === claimOf(purchase);
    if (other.workspaceId !== workspaceId && isSameMonth && mayHavePaid) return true;
    return operation.state !== 'unconfirmed' && other.createdAt >= createdAt;
  });
}

async function settleFound(
  operation: Operation,
  { kind: _, ...found }: Extract<Verdict, { kind: 'done' }>,
  app: AppContext,
): Promise<boolean> {
  const isLate = operation.state === 'refused';
  const audit = auditOfOperation(operation, app, 'done', {
    serverId: found.serverId,
    surface: 'background',
    ...(isLate && { code: 'found_late' }),
  });
  return app.ledger.settle(operation.id, { at: app.system.now(), ...found, isLate }, audit);
}

/**
 * Once: what was ended, or waits for a decision, stays as it is. Without a code, nothing has been found out, since no whole list could
 * be read: the reason stays.
 */
async function leaveToManager(
  operation: Operation,
  code: UnconfirmedReason['code'] | undefined,
  app: AppContext,
): Promise<void> {
  if (operation.state !== 'unconfirmed' || operation.needsDecision) return;
  const reason = code === undefined ? operation.reason : ({ code, details: {} } as const);
  const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code, surface: 'background' });
  await app.ledger.markNeedsDecision(operation.id, audit, reason);
}

/** What a list of servers proves about an operation whose outcome is not known. */
type Verdict =
  | { readonly kind: 'done'; readonly serverId: ServerId; readonly paidUntil?: number }
  | { readonly kind: 'nothing_yet' }
  /** Something fits, but not beyond doubt: a manager has to look. */
  | { readonly kind: 'contradictory' };

interface Evidence {
  readonly list: ServerList;
  /** Servers that other orders have created. */
  readonly othersIds: readonly ServerId[];
  /** Whether another order may have done the same: of the same label, or a later one of the same server. */
  readonly hasRival: boolean;
  readonly now: number;
}

/** The fewest and most days after which a purchased month may end, however the service counts them. */
const SHORTEST_MONTH_MS = 20 * DAY_MS;
const LONGEST_MONTH_MS = 40 * DAY_MS;

const NOTHING_YET = { kind: 'nothing_yet' } as const;
const CONTRADICTORY = { kind: 'contradictory' } as const;

/** Judges whether an operation was done after all. From a list that is not complete, nothing follows. Pure. */
export function judge(operation: Operation, evidence: Evidence): Verdict {
  if (evidence.list.extent !== 'whole') return NOTHING_YET;
  const { purchase } = operation;
  return purchase.kind === 'create'
    ? judgeCreate(operation, purchase.order.label, evidence)
    : judgeRenewal(purchase, evidence);
}

/** New servers that no other order has created: the one that an operation has made is among them. */
export function listNewServers(
  { knownIds }: Operation,
  { servers }: ServerList,
  othersIds: readonly ServerId[],
): readonly Server[] {
  return servers.filter(
    (server) => !knownIds.includes(server.id) && !othersIds.includes(server.id) && !isDeleted(server),
  );
}

function judgeCreate(
  operation: Operation,
  label: string,
  { list, othersIds, hasRival, now }: Evidence,
): Verdict {
  const [mine, ...more] = listNewServers(operation, list, othersIds).filter((server) =>
    isSameLabel(server.label, label),
  );
  if (!mine) return NOTHING_YET;
  // What was never marked as sent here has no IDs from before: any server may be older than the order.
  const isCertain =
    operation.sentAt !== undefined &&
    more.length === 0 &&
    !hasRival &&
    isIdenticalLabel(mine.label, label) &&
    isMonthBoughtSince(operation, mine, now);
  return isCertain ? { kind: 'done', serverId: mine.id } : CONTRADICTORY;
}

/** The month may have begun at any time since it was ordered: a supplier that checks has no deadline. */
function isMonthBoughtSince({ sentAt, createdAt }: Operation, { paidUntil }: Server, now: number): boolean {
  if (paidUntil === undefined) return false;
  const from = sentAt ?? createdAt;
  return paidUntil >= from + SHORTEST_MONTH_MS && paidUntil <= Math.max(from, now) + LONGEST_MONTH_MS;
}

function judgeRenewal(
  { serverId, paidUntil }: Extract<Purchase, { kind: 'renew' }>,
  { list, hasRival }: Evidence,
): Verdict {
  const server = list.servers.find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) return CONTRADICTORY;
  if (server.paidUntil === undefined || server.paidUntil < paidUntil) return CONTRADICTORY;
  if (server.paidUntil === paidUntil) return NOTHING_YET;
  return hasRival ? CONTRADICTORY : { kind: 'done', serverId, paidUntil: server.paidUntil };
}
