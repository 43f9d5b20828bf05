import type { Ledger } from '../../app/purchases/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { CreatedServer } from '../../domain/known-price.ts';
import { money } from '../../domain/money.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { OperationRow } from '../engine/tables.ts';
import { LOOKED_FOR } from './ledger-rows.ts';
import { parsePurchase } from './parse-purchase.ts';
import { parseStanding } from './parse-reason.ts';

type Prices = Pick<Ledger, 'listCreated' | 'listPurchases'>;

/** What is read from the ledger about the prices of many servers at once. */
export function createPrices({ db, engine }: Foundation): Prices {
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
    .select(['server_id', 'purchase', 'price', 'actor_id', 'created_at', 'key_generation'])
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
  'server_id' | 'purchase' | 'price' | 'actor_id' | 'created_at' | 'key_generation'
>;

function toCreated(row: CreatedRow): CreatedServer[] {
  const purchase = parsePurchase(row.purchase);
  if (row.server_id === null || purchase.kind !== 'create') return [];
  const { label, plan } = purchase.order;
  const { actor_id: creatorId, created_at: createdAt, key_generation: keyGeneration } = row;
  const paid = { paid: findPrice(row.price) };
  return [{ id: row.server_id, label, plan, ...paid, creatorId, createdAt, keyGeneration }];
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
    .where('created_at', '>=', since)
    .where((column) => column.or([column('state', '<>', 'refused'), column('reason', 'in', LOOKED_FOR)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    purchase: parsePurchase(row.purchase),
    price: findPrice(row.price),
    ...parseStanding(row),
  }));
}

function findPrice(price: number | null) {
  return price === null ? undefined : money(price);
}
