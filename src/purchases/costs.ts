import type { AppContext } from '../context.ts';
import { type Catalog, findPlan, type Order, type Plan } from '../core/catalog.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import { type Money, money } from '../core/money.ts';
import type { Actor } from '../core/roles.ts';
import { compareServers, isDeleted, type Server, type ServerList } from '../core/server.ts';
import type { WorkspaceSettings } from '../core/settings.ts';
import { monthStart } from '../core/time.ts';
import type { Queries } from '../db/database.ts';
import { labelOf, type Operation } from './operation.ts';

export type Costs = Awaited<ReturnType<typeof costsOf>>;

export interface ServerCost {
  readonly server: Server;
  /** Absent for a server that was not created with this app in this workspace. */
  readonly created?: CreatedServer;
  readonly price?: KnownPrice;
}

/**
 * Adds up what the workspace's servers cost a month, and what was paid here this month. Nothing is guessed: what is not
 * known is listed without a price. Money effect: none.
 */
export const readCosts = defineUseCase({
  name: 'costs',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: () => void }, context): Promise<Costs> => {
    const { covers, coversEveryServer } = context;
    const hosting = await context.hosting();
    const [list, catalog, paid] = await Promise.all([
      hosting.fetchServers({ onWait }),
      hosting.fetchCatalog(),
      readPaid(covers, context),
    ]);
    return costsOf({ list, catalog, paid, covers, isLimited: !coversEveryServer }, context);
  },
});

type Covers = (label: string) => boolean;

export type PaidThisMonth = Awaited<ReturnType<typeof readPaid>>;

/** What was confirmed here since the first moment of the month, in UTC, for servers with such labels. Reads only the store. */
export async function readPaid(covers: Covers, { actor, app }: FollowUpContext) {
  const since = monthStart(app.system.now());
  const purchases = await app.ledger.listPurchases(actor.workspaceId, since);
  const covered = purchases.filter(({ purchase }) => covers(labelOf(purchase)));
  const settled = covered.filter(({ state }) => state === 'settled');
  return {
    since,
    creates: tally(settled.filter(({ purchase }) => purchase.kind === 'create')),
    renewals: tally(settled.filter(({ purchase }) => purchase.kind === 'renew')),
    // They may have been charged, or may still be.
    unconfirmed: tally(covered.filter(({ state }) => state !== 'settled' && state !== 'refused')),
    // A manager ended them without proof that nothing was charged.
    unproven: tally(covered.filter(({ state }) => state === 'refused')),
  };
}

/** What the covered servers cost a month, by label. `isLimited`: the actor's role is for some servers only, others are not counted. */
export async function costsOf(
  seen: {
    readonly list: ServerList;
    readonly catalog: Catalog;
    readonly paid: PaidThisMonth;
    readonly covers: Covers;
    readonly isLimited: boolean;
  },
  { actor, app }: FollowUpContext,
) {
  const { workspaceId } = actor;
  const created = await app.ledger.listCreated(workspaceId);
  const held = await app.apiKeys.find(workspaceId);
  const createdById = new Map(created.map((each) => [each.id, each]));
  const servers: readonly ServerCost[] = seen.list.servers
    .filter((server) => !isDeleted(server) && seen.covers(server.label))
    .sort(compareServers)
    .map((server) => {
      const made = createdById.get(server.id);
      if (!made || !isOrderOf({ ...made, ...made.order }, server, held?.account)) return { server };
      return { server, created: made, price: findKnownPrice(made, seen.catalog) };
    });
  return {
    servers,
    monthly: sum(servers.flatMap(({ price }) => price?.monthly ?? [])),
    byPlan: shareBy(servers, ({ order }) => order.plan),
    byPerson: shareBy(servers, ({ creatorId }) => creatorId),
    paid: seen.paid,
    isLimited: seen.isLimited,
    extent: seen.list.extent,
  };
}

export type CostShare = ReturnType<typeof shareBy>[number];

/** Sums by key, largest first. `atPaidPrice`: how many count at the price that was paid, since the catalog doesn't have their plan. */
function shareBy(servers: readonly ServerCost[], keyOf: (created: CreatedServer) => string) {
  const priced = servers.flatMap(({ created, price }) =>
    created && price ? [{ key: keyOf(created), ...price }] : [],
  );
  return [...new Set(priced.map(({ key }) => key))]
    .map((key) => {
      const own = priced.filter((each) => each.key === key);
      const atPaidPrice = own.filter(({ source }) => source === 'paid').length;
      return { key, monthly: sum(own.map(({ monthly }) => monthly)), servers: own.length, atPaidPrice };
    })
    .sort((a, b) => b.monthly - a.monthly || b.servers - a.servers || (a.key < b.key ? -1 : 1));
}

export type Tally = ReturnType<typeof tally>;

/** `amount`: of those whose price is known. */
function tally(purchases: readonly { readonly price?: Money }[]) {
  const prices = purchases.flatMap(({ price }) => price ?? []);
  return { count: purchases.length, amount: sum(prices), unpriced: purchases.length - prices.length };
}

export function sum(amounts: readonly Money[]): Money {
  return money(amounts.reduce((whole: number, each) => whole + each, 0));
}

/** What the order of a server that was created with this app says about it: the API's record has no plan and no price. */
export interface CreatedServer {
  readonly operationId: ConfirmationId;
  readonly id: ServerId;
  readonly order: Order;
  readonly paid?: Money;
  readonly creatorId: UserId;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** A name of the key that it was ordered with; absent without one. */
  readonly account?: string;
}

/**
 * What one more month of a server costs, as far as it is known: what the catalog says today of the plan that was ordered
 * or, if it has no such plan any more, what was paid when the server was created. Neither is a promise: the document does
 * not say what a renewal costs (docs/hosting-api.md 2.8).
 */
interface KnownPrice {
  readonly monthly: Money;
  readonly source: 'catalog' | 'paid';
}

/**
 * Whether this order made this server. After the API key was replaced, the same ID may be another account's server: then
 * the label has to match, too.
 */
export function isOrderOf(
  { label, account }: { readonly label: string; readonly account?: string },
  server: { readonly label: string },
  current: readonly string[] = [],
): boolean {
  return (account !== undefined && current.includes(account)) || isSameLabel(label, server.label);
}

type PlanContext = FollowUpContext & Pick<UseCaseContext, 'hosting'>;

export async function findOrderOf(
  server: { readonly id: ServerId; readonly label: string },
  { actor, app, hosting }: PlanContext,
): Promise<CreatedServer | undefined> {
  const created = await app.ledger.findCreated(actor.workspaceId, server.id);
  const { account } = await hosting();
  return created && isOrderOf({ ...created, ...created.order }, server, account) ? created : undefined;
}

/** What the catalog quotes today for the plan that was ordered; undefined when the server was not created with this app. */
export async function findPlanOf(server: Server, context: PlanContext): Promise<Plan | undefined> {
  const created = await findOrderOf(server, context);
  if (!created) return undefined;
  const hosting = await context.hosting();
  return findPlan(await hosting.fetchCatalog(), created.order.plan);
}

function findKnownPrice(
  { order: { plan }, paid }: Pick<CreatedServer, 'order' | 'paid'>,
  catalog: Catalog,
): KnownPrice | undefined {
  const today = findPlan(catalog, plan);
  if (today) return { monthly: today.monthly, source: 'catalog' };
  return paid === undefined ? undefined : { monthly: paid, source: 'paid' };
}

export function sumCost<Priced extends { readonly price?: Money }>(
  servers: readonly Priced[],
): { readonly known: Money; readonly unknown: readonly Priced[] } {
  return {
    known: sum(servers.flatMap(({ price }) => price ?? [])),
    unknown: servers.filter(({ price }) => price === undefined),
  };
}

/** The most that may be spent since a moment (epoch milliseconds); absent for no limit. */
export interface Budget {
  readonly since: number;
  readonly workspace?: Money;
  readonly person?: Money;
}

/** Only what was spent with this app, and whose price is known. */
export type Spent = Readonly<Record<'workspace' | 'person', Money>>;

/** A budget that a purchase would go over, and what is spent of it. */
export type Excess = NonNullable<ReturnType<typeof findExcess>>;

export function findExcess(budget: Budget, spent: Spent, price: Money | undefined) {
  for (const whose of ['workspace', 'person'] as const) {
    const most = budget[whose];
    if (most === undefined) continue;
    // An unknown price counts as more than nothing: it fits only while something is left.
    const fits = price === undefined ? spent[whose] < most : spent[whose] + price <= most;
    if (!fits) return { whose, spent: spent[whose], most };
  }
  return undefined;
}

/** What may still be spent this month. Only what was spent with this app counts, and only where the price is known. */
export type BudgetState = NonNullable<Awaited<ReturnType<typeof readBudget>>>;

/** The budget of the current month; undefined when none is set. `now`: epoch milliseconds. */
export function budgetOf({ budget }: WorkspaceSettings, now: number): Budget | undefined {
  if (budget.workspace === undefined && budget.person === undefined) return undefined;
  return { since: monthStart(now), ...budget };
}

/** How much of the budget is used; undefined when none is set. */
export async function readBudget(
  settings: WorkspaceSettings,
  { workspaceId, userId }: Pick<Actor, 'workspaceId' | 'userId'>,
  { ledger, system }: AppContext,
) {
  const budget = budgetOf(settings, system.now());
  return budget && { budget, spent: await ledger.sumSpent(workspaceId, userId, budget.since) };
}

/**
 * Checks a confirmed order again before it is sent: an owner may have lowered the budget since. Going over it may have been
 * approved.
 * @throws Refusal `over_budget`
 */
export async function refuseOverBudget(
  { id, workspaceId, actorId, price, createdAt }: Operation,
  settings: WorkspaceSettings,
  app: AppContext,
): Promise<void> {
  const state = await readBudget(settings, { workspaceId, userId: actorId }, app);
  if (!state) return;
  const approval = await app.requests.find(id, ['purchase']);
  if (approval?.state === 'approved' && approval.isOverBudget) return;
  const { budget } = state;
  // The order itself has been counted since it was confirmed.
  const own = createdAt >= budget.since ? (price ?? 0) : 0;
  const spent = {
    workspace: money(state.spent.workspace - own),
    person: money(state.spent.person - own),
  };
  const excess = findExcess(budget, spent, price);
  if (excess) throw new Refusal('over_budget', { ...excess, price });
}

export function isOverBudget(state: BudgetState | undefined, price: Money | undefined): boolean {
  return state !== undefined && findExcess(state.budget, state.spent, price) !== undefined;
}

/**
 * Sums what confirmations since then have paid or may still pay, in hundredths. Refused ones cost nothing, and a price
 * that is not known can't be added.
 */
export async function sumSpent(
  db: Queries,
  workspaceId: WorkspaceId,
  actorId: UserId,
  since: number,
): Promise<Spent> {
  const sums = await db
    .selectFrom('operations')
    .select(({ fn }) => [
      fn.sum<number | string | null>('price').as('workspace'),
      fn.sum<number | string | null>('price').filterWhere('actor_id', '=', actorId).as('person'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('created_at', '>=', since)
    .where('state', '<>', 'refused')
    .executeTakeFirstOrThrow();
  return { workspace: money(Number(sums.workspace ?? 0)), person: money(Number(sums.person ?? 0)) };
}
