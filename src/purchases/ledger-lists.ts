import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { listAccountNames } from '../account/one-account.ts';
import type { ConfirmationId, ServerId, WorkspaceId } from '../core/ids.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { Engine } from '../db/engine.ts';
import type { OperationRow, Tables } from '../db/tables.ts';
import { LOOKED_FOR, toOperation } from './ledger-rows.ts';
import { CLOCK_SLACK_MS, type Operation } from './operation.ts';
import type { Lease, Ledger } from './ports.ts';

const OPEN = ['prepared', 'sent', 'unconfirmed'] as const;

type Lists = Pick<
  Ledger,
  | 'find'
  | 'findCreateOf'
  | 'listOpen'
  | 'countOpen'
  | 'listOfServer'
  | 'listRenewals'
  | 'listMakers'
  | 'listSettledIds'
  | 'listUnresolvedCreates'
>;

/** What is read from the ledger. */
export function createLedgerLists({ db }: Foundation): Lists {
  return {
    find: (id) => find(db, id),
    findCreateOf: (workspaceId, serverId) => findCreateOf(db, workspaceId, serverId),
    listOpen: (workspaceId) => listOpen(db, workspaceId),
    countOpen: () => countOpen(db),
    listOfServer: (workspaceId, serverId, limit) => listOfServer(db, workspaceId, serverId, limit),
    listRenewals: (account, workspaceId, serverId) => listRenewals(db, account, workspaceId, serverId),
    listMakers: (serverId) => listMakers(db, serverId),
    listSettledIds: (account, among, orOf) => listSettledIds(db, account, among, orOf),
    listUnresolvedCreates: (account, workspaceId) => listUnresolvedCreates(db, account, workspaceId),
  };
}

async function find(db: Queries, id: ConfirmationId): Promise<Operation | undefined> {
  const row = await db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toOperation(row);
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
  const rows = await newestOfServer(db, workspaceId, serverId).limit(limit).execute();
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
    .where('state', 'in', OPEN)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function listRenewals(
  db: Queries,
  account: string,
  workspaceId: WorkspaceId,
  serverId: ServerId,
): Promise<readonly Operation[]> {
  const names = await listAccountNames(db, account);
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('kind', '=', 'renew')
    .where('server_id', '=', serverId)
    .where((column) => column.or([column('account', 'in', names), column('workspace_id', '=', workspaceId)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toOperation);
}

async function listMakers(db: Queries, serverId: ServerId): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .where('server_id', '=', serverId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toOperation);
}

async function listSettledIds(
  db: Queries,
  account: string,
  among: readonly ServerId[],
  orOf: WorkspaceId | undefined,
): Promise<readonly ServerId[]> {
  if (among.length === 0) return [];
  const names = await listAccountNames(db, account);
  const rows = await db
    .selectFrom('operations')
    .select('server_id')
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .where('server_id', 'in', among)
    .where((column) =>
      column.or([
        column('account', 'in', names),
        ...(orOf === undefined ? [] : [column('workspace_id', '=', orOf)]),
      ]),
    )
    .orderBy('server_id')
    .execute();
  return rows.map(({ server_id }) => server_id).filter((id) => id !== null);
}

async function listUnresolvedCreates(
  db: Queries,
  account: string,
  workspaceId: WorkspaceId,
): Promise<readonly Operation[]> {
  const names = await listAccountNames(db, account);
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('kind', '=', 'create')
    .where((column) => column.or([column('account', 'in', names), column('workspace_id', '=', workspaceId)]))
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

/** Who works on which operation. Leases expire, so a crashed process doesn't block an operation for long. */
export function createLeases(foundation: Foundation): Pick<Ledger, 'lease' | 'leaseDue' | 'release'> {
  const { db } = foundation;
  return {
    lease: (id, lease) => takeLease(foundation, id, lease),
    leaseDue: async (lease) => {
      const row = await takeDueLease(foundation, lease);
      return row && toOperation(row);
    },
    release: (id, owner, dueAt) => release(db, id, owner, dueAt),
  };
}

async function takeLease(
  { db, engine }: Foundation,
  id: ConfirmationId,
  { owner, now, until }: Lease,
): Promise<boolean> {
  const taken = await db
    .updateTable('operations')
    .set({ lease_owner: owner, lease_until: engine.moment(until, now) })
    .where('id', '=', id)
    .where((column) =>
      column.or([column('lease_until', '<=', engine.moment(now, now)), column('lease_owner', '=', owner)]),
    )
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** One statement finds and takes. Where nothing is left to do `due_at` is NULL, so it alone says what is due. */
async function takeDueLease(
  { db, engine }: Foundation,
  { owner, now, until }: Lease,
): Promise<OperationRow | undefined> {
  return db
    .updateTable('operations')
    .set({ lease_owner: owner, lease_until: engine.moment(until, now) })
    .where((column) => isFree(column, engine, now))
    .where('id', '=', (query) =>
      query
        .selectFrom('operations')
        .select('id')
        .where((column) =>
          column.or([column('due_at', '<=', engine.moment(now, now)), isFromLater(column, engine, now)]),
        )
        .where((column) => isFree(column, engine, now))
        .orderBy('due_at')
        .orderBy('id')
        .limit(1)
        .$if(engine.skipsLockedRows, (rows) => rows.forUpdate().skipLocked()),
    )
    .returningAll()
    .executeTakeFirst();
}

type Columns = ExpressionBuilder<Tables, 'operations'>;

function isFree(column: Columns, engine: Engine, now: number): Expression<SqlBool> {
  return column.or([column('lease_until', '<=', engine.moment(now, now)), isFromLater(column, engine, now)]);
}

/** Confirmed before the clock was set back: the holder of its lease may no longer send it, and it is due to be refused. */
function isFromLater(column: Columns, engine: Engine, now: number): Expression<SqlBool> {
  return column.and([
    column('state', '=', 'prepared'),
    column('created_at', '>', engine.moment(now + CLOCK_SLACK_MS, now)),
  ]);
}

async function release(
  db: Queries,
  id: ConfirmationId,
  owner: string,
  dueAt: number | undefined,
): Promise<void> {
  // What has nothing left to do does not become due again.
  const due = dueAt === undefined ? {} : { due_at: unlessNull(dueAt) };
  await db
    .updateTable('operations')
    .set({ lease_owner: '', lease_until: 0, ...due })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .execute();
}

/** The cast is for engines that take a bare parameter in a CASE for text. */
function unlessNull(dueAt: number) {
  return sql<number | null>`case when due_at is null then null else cast(${dueAt} as bigint) end`;
}
