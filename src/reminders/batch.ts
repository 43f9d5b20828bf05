import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import { codeOf, defineUseCase, outcomeOf, startAuditTrail, type UseCaseContext } from '../core/entry.ts';
import {
  DatabaseUnreachable,
  describeDefect,
  type HostingError,
  isExpected,
  Refusal,
} from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { freezeLabel } from '../core/labels.ts';
import type { HeldLock } from '../core/locks.ts';
import { type Money, money } from '../core/money.ts';
import { hasRole } from '../core/permission.ts';
import type { Actor } from '../core/roles.ts';
import { DAY_MS, localDay, MINUTE_MS, WEEK_MS } from '../core/time.ts';
import { confirmOne } from '../purchases/confirm.ts';
import { claimOf, type Operation, SEND_WITHIN_MS } from '../purchases/operation.ts';
import { runOperation } from '../purchases/pay.ts';
import type { OperationNotifier } from '../purchases/ports.ts';
import { sumCost } from '../purchases/prices.ts';
import { findRenewPrice, readTerms, type Terms } from '../purchases/review.ts';
import { notifyRequest } from '../requests/notify.ts';
import { APPROVALS, type Approval } from '../requests/request.ts';
import { listDue, type PaidServer } from './digest-content.ts';
import { readReminderSettings } from './marks.ts';
import type { BatchedRenewal, RenewalBatch } from './ports.ts';

/**
 * Renewals are sent one by one. This many are sent well before their confirmations expire (docs/design.md 4.7); the rest can be
 * renewed right after them.
 */
const MOST_RENEWALS = 25;

interface ReviewedRenewal {
  readonly server: PaidServer;
  /** What the catalog says today of the plan that was ordered with this app; absent for other servers. */
  readonly price?: Money;
}

export interface RenewalsReview {
  readonly renewals: readonly ReviewedRenewal[];
  readonly known: Money;
  readonly unknown: readonly ReviewedRenewal[];
  /** Further servers that are due, and are not part of this review. */
  readonly omitted: number;
  readonly terms: Terms;
}

interface RenewalsInput {
  readonly formId: ConfirmationId;
  /** Only these of the servers that are due. */
  readonly only?: readonly ServerId[];
}

/**
 * Looks at what it costs to renew every server that is due, other than those that are snoozed, left to expire or being
 * renewed. Stores what is shown under the form's ID, since a form can't carry it.
 * @throws Refusal `nothing_to_renew`; `list_incomplete` when nothing is due in a list that isn't complete; `purchases_frozen`
 */
export const reviewRenewals = defineUseCase({
  name: 'renew',
  needs: 'manager',
  effect: 'reads',
  run: async ({ formId, only }: RenewalsInput, context): Promise<RenewalsReview> => {
    await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
    const { due, isComplete } = await listRenewable(only, context);
    if (due.length === 0) throw new Refusal(isComplete ? 'nothing_to_renew' : 'list_incomplete', {});
    const renewals: ReviewedRenewal[] = [];
    for (const server of due.slice(0, MOST_RENEWALS))
      renewals.push({ server, price: await findRenewPrice(server, context) });
    const cost = sumCost(renewals);
    // As for one renewal: an unknown price is more than nothing.
    const atLeast = money(cost.known + (cost.unknown.length > 0 ? 1 : 0));
    const terms = await readTerms('renew', atLeast, context);
    await storeBatch(formId, renewals, context);
    return { renewals, ...cost, omitted: due.length - renewals.length, terms };
  },
});

/** The most urgent first. */
async function listRenewable(
  only: RenewalsInput['only'],
  context: UseCaseContext,
): Promise<{ readonly due: readonly PaidServer[]; readonly isComplete: boolean }> {
  const { actor, app } = context;
  const { workspaceId } = actor;
  const hosting = await context.hosting();
  const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
  const settings = await readReminderSettings(context);
  const now = app.system.now();
  const marks = await app.reminders.listMarks(workspaceId);
  const due = listDue(servers, localDay(now, settings.zone), now, settings, marks)
    .filter(({ mark }) => mark === undefined)
    .map(({ server }) => server)
    .filter(({ id, label }) => context.covers(label) && (only?.includes(id) ?? true));
  const ids = due.map(({ id }) => id);
  const renewals = await app.reminders.listRenewals(workspaceId, ids);
  const claims = new Set(renewals.map(({ purchase }) => claimOf(purchase)));
  const isUnclaimed = ({ id: serverId, label, paidUntil }: PaidServer) =>
    !claims.has(claimOf({ kind: 'renew', serverId, label, paidUntil }));
  return { due: due.filter(isUnclaimed), isComplete: extent !== 'part' };
}

async function storeBatch(
  id: ConfirmationId,
  renewals: readonly ReviewedRenewal[],
  { actor, app }: UseCaseContext,
): Promise<void> {
  const { workspaceId, userId: actorId, channelId } = actor;
  const batched = renewals.map(({ server, price }) => ({
    id: app.system.newId(),
    serverId: server.id,
    label: freezeLabel(server.label),
    paidUntil: server.paidUntil,
    price,
  }));
  const at = app.system.now();
  await app.renewalBatches.put({
    id,
    workspaceId,
    actorId,
    renewals: batched,
    at,
    channelId,
  });
}

interface ConfirmedBatch {
  readonly batch: RenewalBatch;
  /** False when the same form was confirmed before. */
  readonly isNew: boolean;
}

/**
 * Writes durably, before the ack, that its user confirmed these renewals. Each is then confirmed by itself, right before it is
 * sent, so that roles, budgets, approvals and the freeze count as they are at that moment.
 * Money effect: none yet; what follows pays once for each server, and never for a month that someone else has already renewed.
 * @throws Refusal `stale_confirmation` when the form is not this user's or was stored too long ago; `purchases_frozen`,
 * `order_unsaved`
 */
export const confirmRenewals = defineUseCase({
  name: 'renew_all',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: (input: { readonly id: ConfirmationId }, context): Promise<ConfirmedBatch> =>
    confirm(input.id, context).catch((error: unknown) => {
      if (isExpected(error)) throw error;
      context.app.log.error('renewals could not be confirmed', describeDefect(error));
      throw new Refusal('order_unsaved', { isDatabaseAway: error instanceof DatabaseUnreachable });
    }),
  follow: async ({ batch, isNew }, { actor, app }) => {
    if (isNew) await runBatch(batch, actor, app);
  },
});

async function confirm(id: ConfirmationId, { actor, app }: UseCaseContext): Promise<ConfirmedBatch> {
  const { renewalBatches, workspaces, system } = app;
  const batch = await renewalBatches.find(id);
  const isOwn = batch?.workspaceId === actor.workspaceId && batch.actorId === actor.userId;
  if (!batch || !isOwn) throw new Refusal('stale_confirmation', {});
  if (batch.state !== 'open') return { batch, isNew: false };
  await refuseFrozen(actor.workspaceId, workspaces);
  const at = system.now();
  return { batch: { ...batch, at }, isNew: await renewalBatches.confirm(id, at) };
}

/** With the time of the press: a renewal isn't sent so long after it that it may have been reported as not begun. */
type PressedRenewal = BatchedRenewal & { readonly confirmedAt: number };

/** Why a renewal was not even confirmed, by its ID. */
type Failures = Map<ConfirmationId, HostingError | Refusal>;

/** A batch is one process's work at a time. */
function batchLock(id: ConfirmationId): string {
  return `renewals ${id}`;
}

/**
 * Carries out confirmed renewals one after the other, each as its own operation, and reports the outcome of all of them to
 * their user in one message. A renewal that can't be begun in time isn't begun. If this process crashes, renewals that it had
 * begun continue like any other order, and the sweep reports the rest as not begun.
 * Money effect: pays once for each renewal.
 */
export async function runBatch(batch: RenewalBatch, actor: Actor, app: AppContext): Promise<void> {
  const failures: Failures = new Map();
  await app.locks.run(batchLock(batch.id), async (lock) => {
    const deadline = app.system.elapsed() + SEND_WITHIN_MS;
    for (const [place, renewal] of batch.renewals.entries()) {
      if (!lock.isHeld() || app.system.elapsed() > deadline) break;
      if (!(await app.renewalBatches.start(batch.id, place))) break;
      await renew({ ...renewal, confirmedAt: batch.at }, actor, lock, failures, app);
    }
    await endBatch(batch.id, failures, app);
  });
}

/** A failure of one must not keep the others from being renewed. */
async function renew(
  renewal: PressedRenewal,
  actor: Actor,
  lock: HeldLock,
  failures: Failures,
  app: AppContext,
): Promise<void> {
  try {
    if (!lock.isHeld()) return;
    const confirmed = await confirmRenewal(renewal, actor, app);
    if (!confirmed.isNew) return;
    if (confirmed.kind === 'waiting') return await notifyRequest(confirmed.approval.id, app);
    const operationNotifier = leaveToSummary(app.operationNotifier);
    await runOperation(confirmed.operation.id, { ...app, operationNotifier });
  } catch (error) {
    if (isExpected(error)) failures.set(renewal.id, error);
    // What the ledger has counts, and is reported.
    else app.log.error('a renewal failed', { operationId: renewal.id, ...describeDefect(error) });
  }
}

async function confirmRenewal(renewal: PressedRenewal, actor: Actor, app: AppContext) {
  const { id, price, confirmedAt, ...month } = renewal;
  const purchase = { kind: 'renew' as const, ...month };
  const trail = startAuditTrail(app, 'confirm', { actor, surface: 'modal' });
  const context = {
    actor,
    app,
    setSubject: trail.setSubject,
    requireRoleFor: async (label: string) => {
      const mayRenew = await hasRole(actor, 'manager', label, app);
      if (!mayRenew) throw new Refusal('role_needed', { needed: 'manager', label });
    },
  };
  return confirmOne({ id, purchase, confirmedAt, price }, context).catch(async (error: unknown) => {
    await trail.write(outcomeOf(error), codeOf(error));
    throw error;
  });
}

/** The summary reports what has ended. What is unconfirmed gets its own messages, since it goes on. */
function leaveToSummary(notifier: OperationNotifier): OperationNotifier {
  return {
    ...notifier,
    announceStart: () => undefined,
    notify: async (operation, held, reported) => {
      const hasEnded = operation.state === 'settled' || operation.state === 'refused';
      return hasEnded ? { isNotified: true } : notifier.notify(operation, held, reported);
    },
    notifyQueued: async () => undefined,
  };
}

/** The state of one of several renewals. */
export type RenewalResult = { readonly renewal: BatchedRenewal } & RenewalStanding;

type RenewalStanding =
  /** `isOwn` is false when someone else had already renewed that month. */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly isOwn: boolean }
  | { readonly kind: 'waiting'; readonly approval: Approval }
  | { readonly kind: 'failed'; readonly error: HostingError | Refusal }
  | { readonly kind: 'not_begun' };

/** Notifies users of renewals that they confirmed together. Never throws. */
export interface BatchNotifier {
  /** Reports the outcome of all of them to the user; true if Slack accepted the message. */
  notifyBatch(batch: RenewalBatch, results: readonly RenewalResult[]): Promise<boolean>;
}

/** After this time a message would come too late. */
const TELL_WITHIN_MS = DAY_MS;

/** Reports the outcome of all renewals, and ends the batch once Slack has accepted the message. */
async function endBatch(
  id: ConfirmationId,
  failures: ReadonlyMap<ConfirmationId, HostingError | Refusal>,
  app: AppContext,
): Promise<void> {
  const batch = await app.renewalBatches.find(id);
  if (batch?.state !== 'confirmed') return;
  const isTold = await app.batchNotifier.notifyBatch(batch, await listResults(batch, failures, app));
  if (isTold || app.system.now() - batch.at > TELL_WITHIN_MS) await app.renewalBatches.end(id);
}

/** What the ledger and the approvals say counts; they outlive the process. */
async function listResults(
  { workspaceId, renewals }: RenewalBatch,
  failures: ReadonlyMap<ConfirmationId, HostingError | Refusal>,
  { ledger, requests, reminders }: AppContext,
): Promise<readonly RenewalResult[]> {
  const ids = renewals.map(({ serverId }) => serverId);
  const others = await reminders.listRenewals(workspaceId, ids);
  const byClaim = new Map(others.map((operation) => [claimOf(operation.purchase), operation]));
  const find = async (renewal: BatchedRenewal): Promise<RenewalStanding> => {
    const own = await ledger.find(renewal.id);
    if (own) return { kind: 'operation', operation: own, isOwn: true };
    const approval = await requests.find(renewal.id, APPROVALS);
    if (approval) return { kind: 'waiting', approval };
    const operation = byClaim.get(claimOf({ kind: 'renew', ...renewal }));
    if (operation) return { kind: 'operation', operation, isOwn: false };
    const error = failures.get(renewal.id);
    return error ? { kind: 'failed', error } : { kind: 'not_begun' };
  };
  return Promise.all(renewals.map(async (renewal) => ({ renewal, ...(await find(renewal)) })));
}

/** A renewal confirmed this long ago is no longer sent, even by a process that was frozen: it can be reported as not begun. */
const BEGUN_MS = SEND_WITHIN_MS + MINUTE_MS;
const LEASE_MS = MINUTE_MS;

/** Reports the outcome of renewals whose process crashed, or whose message Slack refused. */
export async function sweepBatches(app: AppContext): Promise<void> {
  const now = app.system.now();
  for (const batch of await app.renewalBatches.listUnended(now - BEGUN_MS))
    await sweepBatch(batch, app).catch((error: unknown) => {
      app.log.warn('renewals could not be told', { confirmationId: batch.id, ...describeDefect(error) });
    });
  await app.renewalBatches.removeBefore(now - WEEK_MS);
}

async function sweepBatch(batch: RenewalBatch, app: AppContext): Promise<void> {
  const lock = { name: batchLock(batch.id), owner: app.system.newId() };
  // A living process renews its lease.
  if (!(await app.lockLeases.take(lock, LEASE_MS))) return;
  try {
    const results = await listResults(batch, new Map(), app);
    // The background carries these on within minutes.
    const isUnderWay = results.some(
      (each) => each.kind === 'operation' && ['prepared', 'sent'].includes(each.operation.state),
    );
    if (!isUnderWay) await endBatch(batch.id, new Map(), app);
  } finally {
    await app.lockLeases.release(lock);
  }
}
