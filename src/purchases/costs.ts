import type { Catalog } from '../core/catalog.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { type Money, money } from '../core/money.ts';
import { compareServers, isDeleted, type Server, type ServerList } from '../core/server.ts';
import { monthStart } from '../core/time.ts';
import { labelOf } from './operation.ts';
import {
  type CreatedServer,
  type FindPrice,
  type KnownPrice,
  type PricedPurchase,
  readKnownPrices,
} from './prices.ts';

/** What the servers that the actor's role covers cost, as far as it is known. */
export interface Costs {
  /** By label. */
  readonly servers: readonly ServerCost[];
  /** All known prices of a month together, in hundredths. */
  readonly monthly: Money;
  /** Largest first. */
  readonly byPlan: readonly CostShare[];
  /** By who created them, largest first. */
  readonly byPerson: readonly CostShare[];
  readonly paid: PaidThisMonth;
  /** The actor's role is for some servers only: others are not counted. */
  readonly isLimited: boolean;
}

export interface ServerCost {
  readonly server: Server;
  /** Absent for a server that was not created with this app in this workspace. */
  readonly created?: CreatedServer;
  readonly price?: KnownPrice;
}

/** What some of the servers cost a month together. */
export interface CostShare {
  /** The plan's code, or the user's ID. */
  readonly key: string;
  readonly monthly: Money;
  readonly servers: number;
  /** How many of them count at the price that was paid, since the catalog doesn't have their plan. */
  readonly atPaidPrice: number;
}

/** Purchases that were confirmed here since the first moment of the month, in UTC. */
export interface PaidThisMonth {
  readonly since: number;
  readonly creates: Tally;
  readonly renewals: Tally;
  /** Not settled: they may have been charged, or may still be. */
  readonly unconfirmed: Tally;
  /** A manager, or an older version, ended them without proof that nothing was charged. */
  readonly unproven: Tally;
}

export interface Tally {
  readonly count: number;
  /** Of those whose price is known. */
  readonly amount: Money;
  readonly unpriced: number;
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
    const { covers } = context;
    const hosting = await context.hosting();
    const [list, catalog, paid] = await Promise.all([
      hosting.fetchServers({ onWait }),
      hosting.fetchCatalog(),
      readPaid(covers, context),
    ]);
    const isLimited = !context.coversEveryServer;
    return costsOf({ list, catalog, paid, covers, isLimited }, context);
  },
});

type Context = Pick<UseCaseContext, 'actor' | 'app'>;
type Covers = (label: string) => boolean;

/** What was paid here this month for servers with such labels. Reads only the store. */
export async function readPaid(covers: Covers, { actor, app }: Context): Promise<PaidThisMonth> {
  const since = monthStart(app.system.now());
  const purchases = await app.ledger.listPurchases(actor.workspaceId, since);
  const covered = purchases.filter(({ purchase }) => covers(labelOf(purchase)));
  return tallyPurchases(covered, since);
}

/** Adds up what the servers of a list cost. */
export async function costsOf(
  {
    list,
    catalog,
    paid,
    covers,
    isLimited,
  }: {
    readonly list: ServerList;
    readonly catalog: Catalog;
    readonly covers: Covers;
  } & Pick<Costs, 'paid' | 'isLimited'>,
  { actor, app }: Context,
): Promise<Costs> {
  const findPrice = await readKnownPrices(actor.workspaceId, catalog, app);
  const costs = priceServers(list.servers, covers, findPrice);
  return { ...addUp(costs), paid, isLimited };
}

function priceServers(
  servers: readonly Server[],
  covers: (label: string) => boolean,
  findPrice: FindPrice,
): ServerCost[] {
  const seen = servers.filter((server) => !isDeleted(server) && covers(server.label));
  return seen.sort(compareServers).map((server) => ({ server, ...findPrice(server) }));
}

function addUp(servers: readonly ServerCost[]): Pick<Costs, 'servers' | 'monthly' | 'byPlan' | 'byPerson'> {
  return {
    servers,
    monthly: sum(servers.flatMap(({ price }) => price?.monthly ?? [])),
    byPlan: shareBy(servers, ({ plan }) => plan),
    byPerson: shareBy(servers, ({ creatorId }) => creatorId),
  };
}

function shareBy(servers: readonly ServerCost[], keyOf: (created: CreatedServer) => string): CostShare[] {
  const shares = new Map<string, KnownPrice[]>();
  for (const { created, price } of servers) {
    if (!created || !price) continue;
    const key = keyOf(created);
    const prices = shares.get(key);
    if (prices) prices.push(price);
    else shares.set(key, [price]);
  }
  return [...shares]
    .map(([key, prices]) => ({
      key,
      monthly: sum(prices.map(({ monthly }) => monthly)),
      servers: prices.length,
      atPaidPrice: prices.filter(({ source }) => source === 'paid').length,
    }))
    .sort((a, b) => b.monthly - a.monthly || b.servers - a.servers || (a.key < b.key ? -1 : 1));
}

function tallyPurchases(purchases: readonly PricedPurchase[], since: number): PaidThisMonth {
  const settled = purchases.filter(({ state }) => state === 'settled');
  const refused = purchases.filter(({ state }) => state === 'refused');
  const open = purchases.filter(({ state }) => state !== 'settled' && state !== 'refused');
  return {
    since,
    creates: tally(settled.filter(({ purchase }) => purchase.kind === 'create')),
    renewals: tally(settled.filter(({ purchase }) => purchase.kind === 'renew')),
    unconfirmed: tally(open),
    unproven: tally(refused),
  };
}

function tally(purchases: readonly PricedPurchase[]): Tally {
  const prices = purchases.flatMap(({ price }) => price ?? []);
  return { count: purchases.length, amount: sum(prices), unpriced: purchases.length - prices.length };
}

function sum(amounts: readonly Money[]): Money {
  return money(amounts.reduce((whole: number, each) => whole + each, 0));
}
