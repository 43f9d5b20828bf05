import type { AccountNames, ConfirmationId, ServerId, WorkspaceId } from '../core/ids.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { DeleteOperation } from '../servers/deletion.ts';
import { LOOKED_FOR, toDelete, toOperation } from './ledger-rows.ts';
import type { Operation } from './operation.ts';
import type { Ledger } from './ports.ts';

const OPEN = ['prepared', 'sent', 'unconfirmed'] as const;

type Lists = Pick<
  Ledger,
  | 'find'
  | 'findDelete'
  | 'findCreateOf'
  | 'listOpen'
  | 'countOpen'
  | 'listOfServer'
  | 'listRenewals'
  | 'listSettledIds'
  | 'listUnresolvedCreates'
>;

/** What is read from the ledger. */
export function createLedgerLists({ db }: Foundation): Lists {
  return {
    find: (id) => find(db, id),
    findDelete: (id) => findDelete(db, id),
    findCreateOf: (workspaceId, serverId) => findCreateOf(db, workspaceId, serverId),
    listOpen: (workspaceId) => listOpen(db, workspaceId),
    countOpen: () => countOpen(db),
    listOfServer: (workspaceId, serverId, limit) => listOfServer(db, workspaceId, serverId, limit),
    listRenewals: (account, workspaceId, serverId) => listRenewals(db, account, workspaceId, serverId),
    listSettledIds: (account, among, orOf) => listSettledIds(db, account, among, orOf),
    listUnresolvedCreates: (account, workspaceId) => listUnresolvedCreates(db, account, workspaceId),
  };
}

async function find(db: Queries, id: ConfirmationId): Promise<Operation | undefined> {
  const row = await selectOne(db, id).where('kind', '<>', 'delete').executeTakeFirst();
  return row && toOperation(row);
}

/** Finds a delete by the ID of its confirmation; undefined for a purchase. */
export async function findDelete(db: Queries, id: ConfirmationId): Promise<DeleteOperation | undefined> {
  const row = await selectOne(db, id).where('kind', '=', 'delete').executeTakeFirst();
  return row && toDelete(row);
}

function selectOne(db: Queries, id: ConfirmationId) {
  return db.selectFrom('operations').selectAll().where('id', '=', id);
}

/** Renewals are left out: only the order of a create names the plan. */
async function findCreateOf(
  db: Queries,
  workspaceId: WorkspaceId,
  serverId: ServerId,
): Promise<Operation | undefined> {
  const row = await newestOfServer(db, workspaceId, serverId)
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .limit(1)
    .executeTakeFirst();
  return row && toOperation(row);
}

async function listOfServer(
  db: Queries,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  limit: number,
): Promise<readonly Operation[]> {
  const rows = await newestOfServer(db, workspaceId, serverId)
    .where('kind', '<>', 'delete')
    .limit(limit)
    .execute();
  return rows.map(toOperation);
}

function newestOfServer(db: Queries, workspaceId: WorkspaceId, serverId: ServerId) {
  return db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('server_id', '=', serverId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

async function listOpen(db: Queries, workspaceId: WorkspaceId): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '<>', 'delete')
    .where('state', 'in', OPEN)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toOperation);
}

async function countOpen(db: Queries): Promise<number> {
  const { count } = await db
    .selectFrom('operations')
    .select((column) => column.fn.countAll().as('count'))
    .where('kind', '<>', 'delete')
    .where('state', 'in', OPEN)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function listRenewals(
  db: Queries,
  account: AccountNames,
  workspaceId: WorkspaceId,
  serverId: ServerId,
): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('kind', '=', 'renew')
    .where('server_id', '=', serverId)
    .where((column) =>
      column.or([column('account', 'in', account), column('workspace_id', '=', workspaceId)]),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toOperation);
}

async function listSettledIds(
  db: Queries,
  account: AccountNames,
  among: readonly ServerId[],
  orOf: WorkspaceId | undefined,
): Promise<readonly ServerId[]> {
  if (among.length === 0) return [];
  const rows = await db
    .selectFrom('operations')
    .select('server_id')
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .where('server_id', 'in', among)
    .where((column) =>
      column.or([
        column('account', 'in', account),
        ...(orOf === undefined ? [] : [column('workspace_id', '=', orOf)]),
      ]),
    )
    .orderBy('server_id')
    .execute();
  return rows.map(({ server_id }) => server_id).filter((id) => id !== null);
}

async function listUnresolvedCreates(
  db: Queries,
  account: AccountNames,
  workspaceId: WorkspaceId,
): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('kind', '=', 'create')
    .where((column) =>
      column.or([column('account', 'in', account), column('workspace_id', '=', workspaceId)]),
    )
    .where((column) =>
      column.or([
        column('state', 'in', ['sent', 'unconfirmed']),
        column.and([column('state', '=', 'refused'), column('reason', 'in', LOOKED_FOR)]),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toOperation);
}
