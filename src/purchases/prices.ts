import type { AppContext } from '../context.ts';
import { type Catalog, findPlan } from '../core/catalog.ts';
import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import { type Money, money } from '../core/money.ts';
import type { Server } from '../core/server.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { OperationRow } from '../db/tables.ts';
import { LOOKED_FOR, parsePurchase, readStanding } from './ledger-rows.ts';
import type { Operation, Standing } from './operation.ts';
import type { Ledger } from './ports.ts';

/** What the order of a server that was created with this app says about it: the API's record has no plan and no price. */
export interface CreatedServer {
  readonly id: ServerId;
  /** As it was ordered. */
  readonly label: string;
  readonly plan: string;
  /** The monthly price that was paid then. */
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
export interface KnownPrice {
  readonly monthly: Money;
  readonly source: 'catalog' | 'paid';
}

/**
 * Whether this order made this server. After the API key was replaced, the same ID may be another account's server: then
 * the label has to match, too.
 */
export function isOrderOf(
  { label, account }: Pick<CreatedServer, 'label' | 'account'>,
  server: Pick<Server, 'label'>,
  current: readonly string[] = [],
): boolean {
  return (account !== undefined && current.includes(account)) || isSameLabel(label, server.label);
}

/** The price of a month; undefined when neither the catalog nor the order names one. */
export function findKnownPrice(
  { plan, paid }: Pick<CreatedServer, 'plan' | 'paid'>,
  catalog: Catalog,
): KnownPrice | undefined {
  const today = findPlan(catalog, plan);
  if (today) return { monthly: today.monthly, source: 'catalog' };
  return paid === undefined ? undefined : { monthly: paid, source: 'paid' };
}

/** What renewing all of them costs, as far as that is known; those whose price is not known are named, never guessed. */
export function sumCost<Priced extends { readonly price?: Money }>(
  servers: readonly Priced[],
): { readonly known: Money; readonly unknown: readonly Priced[] } {
  return {
    known: money(servers.reduce((sum, { price = 0 }) => sum + price, 0)),
    unknown: servers.filter(({ price }) => price === undefined),
  };
}

/** A server's order with this app and, as far as it is known, the price of a month. */
interface PricedServer {
  readonly created: CreatedServer;
  readonly price?: KnownPrice;
}

/** Undefined for a server that was not created with this app in this workspace. */
export type FindPrice = (server: Pick<Server, 'id' | 'label'>) => PricedServer | undefined;

/** Reads, with one query for all servers of a workspace, what a month of each costs as far as it is known. */
export async function readKnownPrices(
  workspaceId: WorkspaceId,
  catalog: Catalog,
  { ledger, apiKeys }: AppContext,
): Promise<FindPrice> {
  const [all, held] = await Promise.all([ledger.listCreated(workspaceId), apiKeys.find(workspaceId)]);
  const byId = new Map(all.map((created) => [created.id, created]));
  return (server) => {
    const created = byId.get(server.id);
    if (!created || !isOrderOf(created, server, held?.account)) return undefined;
    return { created, price: findKnownPrice(created, catalog) };
  };
}

/** A purchase with its price and its state. */
export type PricedPurchase = Pick<Operation, 'purchase' | 'price'> & Standing;

/** What the ledger knows about prices, for all servers of a workspace at once. */
export interface Prices {
  /** The servers that settled creates of this workspace have made; of several with one ID, the newest. */
  listCreated(workspaceId: WorkspaceId): Promise<readonly CreatedServer[]>;
  /** Purchases that were confirmed since then and have paid, may still pay, or were ended without proof that they have not. */
  listPurchases(workspaceId: WorkspaceId, since: number): Promise<readonly PricedPurchase[]>;
}

type StoredPrices = Pick<Ledger, 'listCreated' | 'listPurchases'>;

/** What is read from the ledger about the prices of many servers at once. */
export function createPrices({ db, engine }: Foundation): StoredPrices {
  return {
    listCreated: (workspaceId) => listCreated(db, workspaceId, () => engine.clock.sleep(0)),
    listPurchases: (workspaceId, since) => listPurchases(db, workspaceId, since),
  };
}

/** So many orders are read without a pause: a workspace may have made thousands of servers. */
const CHUNK = 500;

async function listCreated(
  db: Queries,
  workspaceId: WorkspaceId,
  pause: () => Promise<void>,
): Promise<readonly CreatedServer[]> {
  const rows = await db
    .selectFrom('operations')
    .select(['server_id', 'purchase', 'price', 'actor_id', 'created_at', 'account'])
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .where('server_id', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const newest = new Map<number | null, CreatedRow>(rows.map((row) => [row.server_id, row]));
  const created: CreatedServer[] = [];
  for (const [at, row] of [...newest.values()].entries()) {
    if (at % CHUNK === CHUNK - 1) await pause();
    created.push(...toCreated(row));
  }
  return created;
}

type CreatedRow = Pick<
  OperationRow,
  'server_id' | 'purchase' | 'price' | 'actor_id' | 'created_at' | 'account'
>;

function toCreated(row: CreatedRow): CreatedServer[] {
  const purchase = parsePurchase(row.purchase);
  if (row.server_id === null || purchase.kind !== 'create') return [];
  const { label, plan } = purchase.order;
  const { actor_id: creatorId, created_at: createdAt, account } = row;
  const paid = { paid: findPrice(row.price) };
  return [{ id: row.server_id, label, plan, ...paid, creatorId, createdAt, account }];
}

async function listPurchases(
  db: Queries,
  workspaceId: WorkspaceId,
  since: number,
): ReturnType<Ledger['listPurchases']> {
  const rows = await db
    .selectFrom('operations')
    .select(['purchase', 'price', 'state', 'reason', 'reason_details'])
    .where('workspace_id', '=', workspaceId)
    .where('kind', '<>', 'delete')
    .where('created_at', '>=', since)
    .where((column) => column.or([column('state', '<>', 'refused'), column('reason', 'in', LOOKED_FOR)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    purchase: parsePurchase(row.purchase),
    price: findPrice(row.price),
    ...readStanding(row),
  }));
}

function findPrice(price: number | null) {
  return price === null ? undefined : money(price);
}
