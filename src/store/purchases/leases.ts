import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Lease, Ledger } from '../../app/purchases/ports.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { CLOCK_SLACK_MS, type Operation } from '../../domain/operation.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { readIfKnown } from '../newer-version.ts';
import { toOperation } from './ledger-rows.ts';
import { PURCHASE_KINDS } from './parse-purchase.ts';
import { STORED_STATES } from './parse-reason.ts';

/** Who works on which operation. Leases expire, so a crashed process doesn't block an operation for long. */
export function createLeases(foundation: Foundation): Pick<Ledger, 'lease' | 'leaseDue' | 'release'> {
  const { db } = foundation;
  const newer = new Set<string>();
  return {
    lease: (id, lease) => takeLease(foundation, id, lease),
    leaseDue: (lease) => leaseDue(foundation, lease, newer),
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

const MOST_NEWER = 1000;

/** What only a newer version can read is given back at once, and not taken again. */
async function leaseDue(
  foundation: Foundation,
  lease: Lease,
  newer: Set<string>,
): Promise<Operation | undefined> {
  for (;;) {
    const row = await takeDueLease(foundation, lease, newer);
    const operation = row && readIfKnown(row, toOperation);
    if (!row || operation) return operation;
    if (newer.size >= MOST_NEWER) newer.clear();
    newer.add(row.id);
    await release(foundation.db, row.id, lease.owner, undefined);
  }
}

/** One statement finds and takes. Where nothing is left to do `due_at` is NULL, so it alone says what is due. */
async function takeDueLease(
  { db, engine }: Foundation,
  { owner, now, until }: Lease,
  newer: ReadonlySet<string>,
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
        .where('kind', 'in', PURCHASE_KINDS)
        .where('state', 'in', STORED_STATES)
        .$if(newer.size > 0, (rows) => rows.where('id', 'not in', [...newer]))
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
