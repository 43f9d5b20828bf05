import { getHostingOf } from '../account/keys.ts';
import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import { type Catalog, findPlan, type Order } from '../core/catalog.ts';
import { describeDefect, HostingError, Refusal } from '../core/errors.ts';
import type { ServerId } from '../core/ids.ts';
import { isIdenticalLabel, isSameLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import { hasRole } from '../core/permission.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { needsApproval, type WorkspaceSettings } from '../core/settings.ts';
import { CommitUnknown } from '../db/database.ts';
import type { CallOptions, HostingApi, PaidCallOptions } from '../hosting/hosting-api.ts';
import type { DeleteOperation } from '../servers/deletion.ts';
import { startFollowing } from '../servers/follow.ts';
import { refuseOverBudget } from './costs.ts';
import type { Ledger } from './ledger.ts';
import {
  auditOfOperation,
  ContradictoryAnswer,
  claimOf,
  confirmedOf,
  isInTime,
  labelOf,
  type Operation,
  type Purchase,
  SEND_WITHIN_MS,
} from './operation.ts';
import { type PaidAnswer, storeAnswer } from './spill.ts';

/**
 * Sends a confirmed create, settles it, and returns the state that the API reported.
 * Money effect: pays the first month, once for each operation.
 * @throws ContradictoryAnswer; Refusal `order_in_doubt`, `label_taken`, `list_incomplete`, `unknown_choice`, `price_moved`,
 * `stale_confirmation`; HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendCreate(order: Order, payment: Payment): Promise<string> {
  let knownIds: readonly ServerId[] = [];
  const check: Check = async (hosting, how) => {
    const earlierSends = await waitForOtherCreates(payment, hosting);
    const [catalog, servers] = await Promise.all([hosting.fetchCatalog(how), fetchAllServers(hosting, how)]);
    refuseMovedPrice(payment.operation.price, order.plan, catalog);
    await refuseUnseenNamesake(servers, payment, hosting);
    knownIds = servers.map(({ id }) => id);
    return { knownIds, earlierSends };
  };
  const created = await pay(payment, check, (hosting, options) => hosting.createServer(order, options));
  const { id, state, rootPassword } = created;
  // A server that was there before is not the one that was just paid.
  if (knownIds.includes(id)) throw new ContradictoryAnswer(rootPassword);
  await settleUntilStored(payment, { serverId: id, password: rootPassword });
  return state;
}

/** Refuses a create whose label another server has by now. A colleague may have just created it on the account's page. */
async function refuseUnseenNamesake(
  servers: readonly Server[],
  { operation, app }: Payment,
  { account }: HostingApi,
): Promise<void> {
  const { purchase, workspaceId } = operation;
  const seen = purchase.kind === 'create' ? (purchase.namesakeIds ?? []) : [];
  const label = labelOf(purchase);
  const unseen = listNamesakes(servers, label).filter((id) => !seen.includes(id));
  // Two orders for one label that were both confirmed here are meant to be two servers.
  const ours = await app.ledger.listSettledIds(account, unseen, workspaceId);
  if (unseen.some((id) => !ours.includes(id))) throw new Refusal('label_taken', { label });
}

/** Lists the servers whose labels users would call the same. */
export function listNamesakes(servers: readonly Server[], label: string): readonly ServerId[] {
  return servers.filter((each) => isSameLabel(each.label, label) && !isDeleted(each)).map(({ id }) => id);
}

/**
 * The ID of a new server says which create made it only while no other create of the account is under way, so one that another
 * process has sent is waited for. A label whose create is unconfirmed is not ordered again: that would pay twice.
 * Returns how many sends of other creates the look that follows knows of.
 */
async function waitForOtherCreates(payment: Payment, { account }: HostingApi): Promise<number> {
  const { operation, app } = payment;
  const label = labelOf(operation.purchase);
  let earlierSends = 0;
  await waitForOthers(payment, async () => {
    // First, so that one that is sent between the two either is waited for, or changes this number.
    earlierSends = await app.ledger.countSends(operation, account);
    const creates = await app.ledger.listUnresolvedCreates(account, operation.workspaceId);
    return creates.filter(({ state, purchase }) => state === 'sent' || isSameLabel(labelOf(purchase), label));
  });
  return earlierSends;
}

/**
 * Waits while one of these others is sent, for as long as this one may be sent. Those of another workspace with the same key are among
 * them; only that there is one is revealed.
 * @throws Refusal `order_in_doubt` if one is unconfirmed; `stale_confirmation`
 */
async function waitForOthers(
  { operation, app }: Payment,
  list: () => Promise<readonly Operation[]>,
): Promise<void> {
  const { id, purchase } = operation;
  while (isInTime(operation, app.system.now())) {
    const others = (await list()).filter((other) => other.id !== id);
    if (others.some(({ state }) => state === 'unconfirmed'))
      throw new Refusal('order_in_doubt', { label: labelOf(purchase), kind: purchase.kind });
    if (!others.some(({ state }) => state === 'sent')) return;
    await pause(app);
  }
  throw new Refusal('stale_confirmation', {});
}

const PAUSE_MS = 500;

/** Random, so that processes that wait for the same do not all look at once. */
function pause({ system }: AppContext): Promise<void> {
  return system.sleep(Math.round(PAUSE_MS * (0.5 + system.random())));
}

type Renewal = Extract<Purchase, { readonly kind: 'renew' }>;

/**
 * Sends a confirmed renewal and settles it. Money effect: pays one more month, once for each operation.
 * @throws Refusal `unknown_choice`, `price_moved`, `unknown_server`, `label_moved`, `paid_until_unknown`,
 * `already_renewed`, `order_in_doubt`, `stale_confirmation`; HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendRenewal(renewal: Renewal, payment: Payment): Promise<void> {
  const { serverId } = renewal;
  const { operation, app } = payment;
  const check: Check = async (hosting, how) => {
    const created = await app.ledger.findCreated(operation.workspaceId, serverId);
    if (created && operation.price !== undefined)
      refuseMovedPrice(operation.price, created.order.plan, await hosting.fetchCatalog(how));
    await waitForSameMonth(renewal, payment, hosting);
    await refuseOtherMonth(renewal, await fetchAllServers(hosting, how), payment);
    return {};
  };
  const { paidUntil } = await pay(payment, check, (hosting, options) =>
    hosting.renewServer(serverId, options),
  );
  // A month that was paid moves the date: an answer that says otherwise proves nothing.
  if (paidUntil <= renewal.paidUntil)
    throw new HostingError('unreadable_answer', 'maybe', { problem: 'unexpected' });
  await settleUntilStored(payment, { serverId, paidUntil });
}

async function refuseOtherMonth(
  { serverId, label, paidUntil }: Renewal,
  servers: readonly Server[],
  { operation, app }: Payment,
): Promise<void> {
  const server = servers.find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) throw new Refusal('unknown_server', { typed: label });
  if (!isIdenticalLabel(server.label, label)) {
    // A user who isn't allowed to know the server doesn't learn its new label.
    await requireManager(operation, server.label, app);
    throw new Refusal('label_moved', { before: label, now: server.label });
  }
  if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
  if (server.paidUntil !== paidUntil)
    throw new Refusal('already_renewed', { label: server.label, paidUntil: server.paidUntil });
}

/** Two workspaces with one key may both have confirmed the same month. */
async function waitForSameMonth(renewal: Renewal, payment: Payment, { account }: HostingApi): Promise<void> {
  const { id, workspaceId } = payment.operation;
  await waitForOthers(payment, async () => {
    const renewals = await payment.app.ledger.listRenewals(account, workspaceId, renewal.serverId);
    const same = renewals.filter(({ purchase }) => claimOf(purchase) === claimOf(renewal));
    const paid = same.find((other) => other.id !== id && other.state === 'settled');
    if (!paid) return same;
    const { label } = renewal;
    // The list may not show it yet. Without a date, somebody decided that it was renewed, and no list has proven it.
    if (paid.paidUntil === undefined) throw new Refusal('order_in_doubt', { label, kind: 'renew' });
    throw new Refusal('already_renewed', { label, paidUntil: paid.paidUntil });
  });
}

/** What `markSent` has to know of a look. */
export type Seen = Pick<Parameters<Ledger['markSent']>[1], 'knownIds' | 'earlierSends'>;

/** Reads from the hosting API whether it is still what was confirmed. */
type Check = (hosting: HostingApi, how: CallOptions) => Promise<Seen>;

/**
 * Looks up everything that permits a payment, then pays.
 * @throws Refusal `role_needed`, `identity_unknown`, `approval_needed`, `over_budget`, `purchases_frozen`, and what the check and
 * `sendPermitted` throw
 */
function pay<Answer>(
  payment: Payment,
  check: Check,
  send: (hosting: HostingApi, options: PaidCallOptions) => Promise<Answer>,
): Promise<Answer> {
  const { operation, app } = payment;
  const look: Check = async (hosting, how) => {
    const settings = await app.workspaces.readSettings(operation.workspaceId);
    refuseFrozen(settings);
    await requireManager(operation, labelOf(operation.purchase), app);
    await requireApproval(payment, settings);
    await refuseOverBudget(operation, settings, app);
    return check(hosting, how);
  };
  return sendPermitted({ ...payment, look, send });
}

/** How long a look counts. An older one is repeated before anything is sent. */
const GOOD_FOR_MS = 10_000;

/** A confirmed operation on its way to the hosting API. */
interface Sending<Confirmed> {
  readonly operation: Confirmed;
  /** The owner of the operation's job. */
  readonly owner: string;
  readonly app: AppContext;
}

/**
 * Looks up everything that permits a payment or a delete, then sends it. Right before its first byte leaves, the step is
 * committed (docs/design.md 4.2): by then it was looked up within ten seconds, and the commit compares that nothing has changed
 * since; only the owner of the lease gets past it. If something has, it looks again, until the send-by time is over.
 *
 * What has to be looked up again is looked up without the limiter's slot. Otherwise all slots could be held by requests
 * that wait for a read, and the read would wait for a slot. The next try comes before those that have not waited yet.
 * @throws Refusal `no_api_key`, `account_changed`, `key_unreadable`, `stale_confirmation`; `MarkUnknown`; and what the steps throw
 */
export async function sendPermitted<Answer>({
  operation,
  owner,
  app,
  ...steps
}: Sending<Operation | DeleteOperation> & {
  readonly look: Check;
  /** Looks once more, right before it is marked as sent. */
  readonly lastLook?: () => Promise<void>;
  readonly send: (hosting: HostingApi, options: PaidCallOptions) => Promise<Answer>;
}): Promise<Answer> {
  const { ledger, system } = app;
  const startedAt = system.elapsed();
  // By the monotonic clock, too: one that was set back must not prolong it.
  const isLate = () => !isInTime(operation, system.now()) || system.elapsed() - startedAt > SEND_WITHIN_MS;
  for (let how: CallOptions = {}; !isLate(); how = { urgency: 'payment' }) {
    const lookedAt = system.elapsed();
    // From before the look: what changes during it may be missed.
    const permit = await ledger.readPermit(operation.workspaceId, system.now());
    const hosting = await getHostingOf(operation, app);
    const seen = await steps.look(hosting, { freshness: 'fresh', ...how });
    const beforeSend = async (): Promise<void> => {
      if (system.elapsed() - lookedAt > GOOD_FOR_MS) throw new LookedTooEarly();
      await steps.lastLook?.();
      const sent = { at: system.now(), owner, account: hosting.account, permit, ...seen };
      const outcome = await ledger.markSent(operation.id, sent).catch((error: unknown) => {
        throw error instanceof CommitUnknown ? new MarkUnknown(error) : error;
      });
      if (outcome === 'outdated') throw new LookedTooEarly();
      if (outcome === 'refused') throw new Refusal('stale_confirmation', {});
    };
    try {
      return await steps.send(hosting, { ...how, beforeSend });
    } catch (error) {
      if (!(error instanceof LookedTooEarly)) throw error;
      await pause(app);
    }
  }
  throw new Refusal('stale_confirmation', {});
}

/** Thrown before anything was sent: what was looked up is too old, or has changed since. */
class LookedTooEarly extends Error {}

/**
 * Thrown instead of sending, because it isn't known whether it was marked as sent. It proves that nothing was done: earlier tries are
 * proven not to have run.
 */
export class MarkUnknown extends Error {
  override readonly name = 'MarkUnknown';

  constructor(cause: CommitUnknown) {
    super('it is not known whether the operation was marked as sent', { cause });
  }
}

const END_AGAIN_MS = 1000;

/**
 * Ends what is proven not to have been done, however long the database doesn't answer: only this process has that proof. If it dies
 * first, what is marked as sent becomes unconfirmed.
 */
export async function endUnsent<Result>(
  { id }: Operation | DeleteOperation,
  end: () => Promise<Result>,
  { log, system }: AppContext,
  onWait: () => Promise<void>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await end();
    } catch (error) {
      log.warn('the refusal of an operation could not be stored yet', {
        operationId: id,
        ...describeDefect(error),
      });
      if (tries === 1) await onWait();
      await system.sleep(END_AGAIN_MS);
    }
  }
}

/** @throws Refusal `role_needed`, `identity_unknown` */
export async function requireManager(
  { workspaceId, actorId: userId, channelId }: Operation | DeleteOperation,
  label: string,
  app: AppContext,
): Promise<void> {
  if (!(await hasRole({ workspaceId, userId, channelId }, 'manager', label, app)))
    throw new Refusal('role_needed', { needed: 'manager' });
}

/** The two-person rule may have been turned on since. An approved order has the ID of its approval. */
async function requireApproval(
  { operation, app }: Payment,
  { approval: rule }: WorkspaceSettings,
): Promise<void> {
  const { id, purchase, price } = operation;
  if (!needsApproval(rule, purchase.kind, price)) return;
  // The form may have been confirmed a second time after the rule had changed: that request may be open or denied.
  if ((await app.requests.find(id, ['purchase']))?.state !== 'approved')
    throw new Refusal('approval_needed', {});
}

type Payment = Sending<Operation>;

/** @throws Refusal `unknown_choice`; `price_moved` when the price is not the confirmed one any more */
function refuseMovedPrice(confirmed: Money | undefined, code: string, catalog: Catalog): void {
  const plan = findPlan(catalog, code);
  if (!plan) throw new Refusal('unknown_choice', { field: 'plan', typed: code });
  if (confirmed !== undefined && confirmed !== plan.monthly)
    throw new Refusal('price_moved', { before: confirmed, now: plan.monthly });
}

/** Reads the whole list, in which a missing server proves that it is gone. @throws Refusal `list_incomplete` */
export async function fetchAllServers(hosting: HostingApi, how: CallOptions): Promise<readonly Server[]> {
  const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh', ...how });
  if (extent === 'part') throw new Refusal('list_incomplete', {});
  return servers;
}

/**
 * Stores the API's own answer. It may hold a password that exists nowhere else, so while the disk is full or the database locked,
 * this retries until the process ends, and keeps the answer in a file in the meantime.
 */
export async function settleUntilStored(
  { operation, app }: { readonly operation: Operation; readonly app: AppContext },
  settled: PaidAnswer & { readonly serverId: ServerId },
): Promise<void> {
  const { log, ledger, system } = app;
  const { id } = operation;
  const audit = auditOfOperation(operation, app, 'done', { serverId: settled.serverId });
  const settle = () => ledger.settle(id, { ...settled, at: system.now(), isFirstHand: true }, audit);
  const isStored = await storeAnswer(id, settled, settle, app);
  if (!isStored)
    log.error('an answer to a paid order arrived after its operation had ended', { operationId: id });
}

/**
 * Follows the server of a purchase or a delete that was carried out: a new one until it runs and has an address, a renewed one until
 * the list shows its new date, a deleted one until a complete list no longer has it. Never throws.
 */
export async function followServer(operation: Operation | DeleteOperation, app: AppContext): Promise<void> {
  const { id, workspaceId, actorId, channelId, account = '' } = operation;
  const confirmed = confirmedOf(operation);
  const serverId = confirmed.kind === 'create' ? operation.serverId : confirmed.serverId;
  const paidUntil = confirmed.kind === 'renew' ? operation.paidUntil : undefined;
  if (serverId === undefined) return;
  const act = { id, workspaceId, action: confirmed.kind, actorId, account, channelId };
  const server = { serverId, label: labelOf(confirmed), standing: 'waiting', hasChanged: false } as const;
  await startFollowing(act, { ...server, paidUntil }, app);
}
