import { z } from 'zod';
import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import { codeOf, defineUseCase, outcomeOf, startAuditTrail, type UseCaseContext } from '../core/entry.ts';
import { describeDefect, Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId, WorkspaceId } from '../core/ids.ts';
import { type Money, money } from '../core/money.ts';
import { hasRole } from '../core/permission.ts';
import { DAY_MS, localDay, MINUTE_MS, WEEK_MS } from '../core/time.ts';
import { CommitUnknown, type Foundation, type Queries } from '../db/database.ts';
import { addJob, type Job, type JobHandler, listJobs } from '../db/jobs.ts';
import { confirmOne, readTerms } from '../purchases/confirm.ts';
import { findPlanOf, sumCost } from '../purchases/costs.ts';
import { claimOf, isInTime, type Operation, SEND_WITHIN_MS } from '../purchases/operation.ts';
import type { OperationNotifier } from '../purchases/outcomes.ts';
import { runOperation } from '../purchases/pay.ts';
import { notifyRequest } from '../requests/notify.ts';
import { APPROVALS, type Approval } from '../requests/request.ts';
import { listDue, type PaidServer, readReminderSettings } from './digest-content.ts';

/**
 * Renewals are sent one by one. This many are sent well before their confirmations expire (docs/design.md 4.7); the rest can be
 * renewed right after them.
 */
const MOST_RENEWALS = 25;

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
  run: async ({ formId, only }: RenewalsInput, context) => {
    refuseFrozen(await context.app.workspaces.readSettings(context.actor.workspaceId));
    const { due, isComplete } = await listRenewable(only, context);
    if (due.length === 0) throw new Refusal(isComplete ? 'nothing_to_renew' : 'list_incomplete', {});
    /** `price`: of the plan that was ordered with this app, in today's catalog; absent for other servers. */
    const renewals: { readonly server: PaidServer; readonly price?: Money }[] = [];
    for (const server of due.slice(0, MOST_RENEWALS))
      renewals.push({ server, price: (await findPlanOf(server, context))?.monthly });
    const cost = sumCost(renewals);
    // As for one renewal: an unknown price is more than nothing.
    const atLeast = money(cost.known + (cost.unknown.length > 0 ? 1 : 0));
    const terms = await readTerms('renew', atLeast, context);
    const { workspaceId, userId: actorId, channelId } = context.actor;
    const { system, renewalBatches } = context.app;
    const batched = renewals.map(({ server: { id: serverId, label, paidUntil }, price }) => {
      return { id: system.newId(), serverId, label, paidUntil, price };
    });
    const shown = { id: formId, workspaceId, actorId, channelId, renewals: batched, at: system.now() };
    await renewalBatches.put(shown);
    // `omitted`: further servers that are due.
    return { renewals, ...cost, omitted: due.length - renewals.length, terms };
  },
});
export type RenewalsReview = Awaited<ReturnType<typeof reviewRenewals.run>>;

/** Lists the servers that can be renewed, the most urgent first. */
async function listRenewable(only: RenewalsInput['only'], context: UseCaseContext) {
  const { actor, app } = context;
  const { workspaceId } = actor;
  const hosting = await context.hosting();
  const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
  const settings = await readReminderSettings(context);
  const marks = await app.serverNotes.list('reminder', workspaceId);
  const due = listDue(servers, localDay(app.system.now(), settings.zone), settings, marks)
    .filter(({ mark }) => mark === undefined)
    .map(({ server }) => server)
    .filter(({ id, label }) => context.covers(label) && (only?.includes(id) ?? true));
  const ids = due.map(({ id }) => id);
  const renewals = await app.ledger.listRenewalsOf(workspaceId, ids);
  const claims = new Set(renewals.map(({ purchase }) => claimOf(purchase)));
  const isUnclaimed = ({ id: serverId, label, paidUntil }: PaidServer) =>
    !claims.has(claimOf({ kind: 'renew', serverId, label, paidUntil }));
  return { due: due.filter(isUnclaimed), isComplete: extent !== 'part' };
}

/**
 * Writes durably, before the ack, that its user confirmed these renewals. Each is then confirmed by itself, right before it is
 * sent, so that roles, budgets, approvals and the freeze count as they are at that moment.
 * Money effect: none yet; what follows pays once for each server, and never for a month that someone else has already renewed.
 * @throws Refusal `stale_confirmation` when the form is not this user's or was stored too long ago; `purchases_frozen`
 */
export const confirmRenewals = defineUseCase({
  name: 'renew_all',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: async ({ id }: { readonly id: ConfirmationId }, { actor, app }) => {
    const { renewalBatches, workspaces, system } = app;
    const batch = await renewalBatches.find(id);
    const isOwn = batch?.workspaceId === actor.workspaceId && batch.actorId === actor.userId;
    if (!batch || !isOwn) throw new Refusal('stale_confirmation', {});
    // `isNew`: false when the same form was confirmed before.
    if (batch.state !== 'open') return { batch, isNew: false };
    refuseFrozen(await workspaces.readSettings(actor.workspaceId));
    return { batch, isNew: await renewalBatches.confirm(id, system.now()) };
  },
  follow: async ({ batch, isNew }, { app }) => {
    if (isNew) await app.jobs.runNow(BATCH, batch.id, createBatchHandler(app));
  },
});

/**
 * Creates what carries out confirmed renewals, by their job: one after the other, each as its own operation, and then reports the
 * outcome of all of them to their user in one message. If the process crashes, another one goes on with those that can still be
 * sent in time. A renewal that can't be begun in time isn't begun.
 * Money effect: pays once for each renewal.
 */
export function createBatchHandler(app: AppContext): JobHandler {
  return async (job) => {
    const batch = toBatch(job);
    const next = batch.state === 'confirmed' ? await carryOn(job, batch, app) : undefined;
    if (next !== undefined) return next;
    const until = batch.at + KEPT_MS;
    return app.system.now() < until ? until : undefined;
  };
}

/** How soon to look again at renewals that another process is continuing, or whose outcome Slack didn't accept. */
const SHORTEST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 5 * MINUTE_MS;
/** How long a notification is retried. Later, it would be of no use. */
const NOTIFY_WITHIN_MS = DAY_MS;

/** Returns when to continue; undefined once its user was notified of the outcome, or if another process continues it. */
async function carryOn(job: Job, before: RenewalBatch, app: AppContext): Promise<number | undefined> {
  const batch = await renewAll(job, before, app);
  if (!batch) return undefined;
  const results = await listResults(batch, app);
  const now = app.system.now();
  // Those under way have jobs of their own, perhaps in another process.
  const own = results.flatMap((each) =>
    each.kind === 'operation' && each.isOwn ? each.operation.state : [],
  );
  if (own.includes('prepared') || own.includes('sent')) return now + SHORTEST_WAIT_MS;
  // What isn't in the ledger or among the requests may still be begun by a frozen process that began the batch, or be stored.
  const isRecorded = results.every(({ kind }) => kind === 'operation' || kind === 'waiting');
  if (!isRecorded && batch.begunBy === UNKNOWN && isInTime(timesOf(batch), now))
    return now + SHORTEST_WAIT_MS;
  const notifyAt = isRecorded || batch.begunBy === job.owner ? now : batch.at + BEGUN_MS;
  if (now < notifyAt) return notifyAt;
  const isNotified = await app.batchNotifier.notifyBatch(batch, results);
  const passedMs = now - batch.at;
  if (!isNotified && passedMs <= NOTIFY_WITHIN_MS)
    return now + Math.min(Math.max(passedMs / 8, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
  await app.jobs.save(job, toPayload({ ...batch, state: 'done' }));
  return undefined;
}

/** In place of an owner: it isn't known what the database has stored. The same ID finds that out. */
const UNKNOWN = '';

const timesOf = ({ at }: RenewalBatch) => ({ createdAt: at, sendBy: at + SEND_WITHIN_MS });

/** A renewal confirmed this long ago is no longer sent, even by a process that was frozen: it can be reported as not begun. */
const BEGUN_MS = SEND_WITHIN_MS + MINUTE_MS;

/** Renews the servers that were not begun yet, while there is time. Undefined when another process has the job by now. */
async function renewAll(job: Job, before: RenewalBatch, app: AppContext): Promise<RenewalBatch | undefined> {
  let batch = before;
  for (const { renewal, kind } of await listResults(before, app)) {
    if (kind !== 'not_begun') continue;
    if (!isInTime(timesOf(batch), app.system.now())) break;
    batch = { ...batch, begunBy: batch.begunBy ?? job.owner };
    if (!(await app.jobs.save(job, toPayload(batch)))) return undefined;
    const failure = await renew(renewal, batch, app);
    if (failure === 'unknown') batch = { ...batch, begunBy: UNKNOWN };
    else if (failure) {
      const { code, details } = failure;
      batch = { ...batch, failures: { ...batch.failures, [renewal.id]: { code, details } } };
    }
  }
  const isSaved = batch === before || (await app.jobs.save(job, toPayload(batch)));
  return isSaved ? batch : undefined;
}

/**
 * Returns why it was not confirmed; `unknown` if the outcome of its commit is. A failure of one must not keep the others from being
 * renewed.
 */
async function renew(
  renewal: BatchedRenewal,
  batch: RenewalBatch,
  app: AppContext,
): Promise<Refusal | 'unknown' | undefined> {
  try {
    const confirmed = await confirmRenewal(renewal, batch, app);
    if (!confirmed.isNew) return undefined;
    if (confirmed.kind === 'waiting') await notifyRequest(confirmed.approval.id, app);
    else {
      const operationNotifier = leaveToSummary(app.operationNotifier);
      await runOperation(confirmed.operation.id, { ...app, operationNotifier });
    }
  } catch (error) {
    if (error instanceof Refusal) return error;
    // What the ledger has counts, and is reported.
    app.log.error('a renewal failed', { operationId: renewal.id, ...describeDefect(error) });
    if (error instanceof CommitUnknown) return 'unknown';
  }
  return undefined;
}

/** Confirms one renewal as of the time of the press, so that it expires before it can be reported as not begun. */
async function confirmRenewal(
  { id, price, ...month }: BatchedRenewal,
  { workspaceId, actorId: userId, channelId, at: confirmedAt }: RenewalBatch,
  app: AppContext,
) {
  const actor = { workspaceId, userId, channelId };
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
    if (error instanceof CommitUnknown) throw error;
    await trail.write(outcomeOf(error), codeOf(error));
    throw error;
  });
}

/** The summary reports what has ended. What is unconfirmed gets its own messages, since it isn't over. */
function leaveToSummary(notifier: OperationNotifier): OperationNotifier {
  return {
    ...notifier,
    announceStart: () => undefined,
    notify: async (operation, held, reported) => {
      const hasEnded = operation.state === 'settled' || operation.state === 'refused';
      return hasEnded || notifier.notify(operation, held, reported);
    },
    notifyQueued: async () => undefined,
  };
}

export type RenewalResult = { readonly renewal: BatchedRenewal } & RenewalStanding;

type RenewalStanding =
  /** `isOwn` is false when someone else had already renewed that month. */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly isOwn: boolean }
  | { readonly kind: 'waiting'; readonly approval: Approval }
  | { readonly kind: 'failed'; readonly error: Refusal }
  | { readonly kind: 'not_begun' };

/** Reads what has become of each renewal from the ledger and the approvals, which outlive the process. */
async function listResults(
  { workspaceId, renewals, failures }: RenewalBatch,
  { ledger, requests }: AppContext,
): Promise<readonly RenewalResult[]> {
  const ids = renewals.map(({ serverId }) => serverId);
  const others = await ledger.listRenewalsOf(workspaceId, ids);
  const byClaim = new Map(others.map((operation) => [claimOf(operation.purchase), operation]));
  const find = async (renewal: BatchedRenewal): Promise<RenewalStanding> => {
    const own = await ledger.find(renewal.id);
    if (own) return { kind: 'operation', operation: own, isOwn: true };
    const approval = await requests.find(renewal.id, APPROVALS);
    if (approval) return { kind: 'waiting', approval };
    const operation = byClaim.get(claimOf({ kind: 'renew', ...renewal }));
    if (operation) return { kind: 'operation', operation, isOwn: false };
    const failure = failures[renewal.id];
    return failure
      ? { kind: 'failed', error: new Refusal(failure.code, failure.details) }
      : { kind: 'not_begun' };
  };
  return Promise.all(renewals.map(async (renewal) => ({ renewal, ...(await find(renewal)) })));
}

/**
 * The kind of job that carries out renewals which were confirmed together. Its key is the ID of their form, and its payload what
 * that shows, since a form can't carry it.
 */
export const BATCH = 'batch';

/** One of several renewals that are confirmed together; its ID is that of its operation. */
const storedRenewal = z.object({
  id: z.string(),
  serverId: z.number(),
  label: z.string(),
  paidUntil: z.number(),
  price: z.number().int().transform(money).exactOptional(),
});
type BatchedRenewal = z.output<typeof storedRenewal>;

const stored = z.object({
  actorId: z.string(),
  channelId: z.string().exactOptional(),
  renewals: z.array(storedRenewal),
  /** `done`: its user has read the outcome. */
  state: z.enum(['open', 'confirmed', 'done']),
  /** When it was opened, or confirmed. */
  at: z.number(),
  /** The owner of the job that began it, or `UNKNOWN`. */
  begunBy: z.string().exactOptional(),
  /** Why renewals were not even confirmed, by their IDs. */
  failures: z.record(z.string(), z.custom<Pick<Refusal, 'code' | 'details'>>()),
});

/** Several renewals that one user reviewed together: each is an operation of its own. */
export type RenewalBatch = z.output<typeof stored> & {
  /** Also the ID of the form, and so of the reply path. */
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
};

/** A second press of the form finds the batch for this long. */
const KEPT_MS = WEEK_MS;
/** The process that takes the confirmation begins at once; another one does if that process has died by then. */
const BEGIN_MS = 2000;

export function createRenewalBatches(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    /** Stores what a form shows. A form that its user loads again replaces it, until it is confirmed. */
    put: (shown: Omit<RenewalBatch, 'state' | 'failures'>): Promise<void> =>
      engine.transact(db, async (trx) => {
        const before = await find(trx, shown.id);
        const isOwn = before?.actorId === shown.actorId && before.workspaceId === shown.workspaceId;
        if (before && !(isOwn && before.state === 'open')) return;
        await store(trx, foundation, { ...shown, state: 'open', failures: {} }, shown.at + KEPT_MS);
      }),
    find: (id: ConfirmationId) => find(db, id),
    /** open → confirmed, durably. False when it was confirmed before. Money effect: its job pays. */
    confirm: (id: ConfirmationId, at: number): Promise<boolean> =>
      engine.transact(db, async (trx) => {
        const batch = await find(trx, id);
        if (batch?.state !== 'open') return false;
        await store(trx, foundation, { ...batch, state: 'confirmed', at }, engine.clock.now() + BEGIN_MS);
        return true;
      }),
  };
}

async function find(db: Queries, id: ConfirmationId): Promise<RenewalBatch | undefined> {
  const [job] = await listJobs(db, BATCH, undefined, id);
  return job && toBatch(job);
}

function store(trx: Queries, foundation: Foundation, batch: RenewalBatch, dueAt: number): Promise<void> {
  const { id: key, workspaceId } = batch;
  return addJob(trx, foundation, { kind: BATCH, key, workspaceId, payload: toPayload(batch), dueAt });
}

function toPayload({ id: _, workspaceId: __, ...payload }: RenewalBatch): object {
  return payload;
}

/** @throws ZodError: money must not depend on a guess */
function toBatch({ key: id, workspaceId, payload }: Job): RenewalBatch {
  return { id, workspaceId, ...stored.parse(payload) };
}
