import type { Transaction } from 'kysely';
import type { AuditEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { THE_COMMAND_LINE } from '../core/roles.ts';
import { labelOf, OPERATION, parseConfirmed } from '../purchases/operation.ts';
import { addAudit } from './audit.ts';
import { DatabaseUnusable, type Foundation, type Queries } from './database.ts';
import { addJob } from './jobs.ts';
import type { OperationRow, Tables } from './tables.ts';

/** Refuses a database whose data was moved to another one, or that a move hasn't released yet. @throws DatabaseUnusable */
export async function refuseMoved(db: Queries): Promise<void> {
  const move = await db
    .selectFrom('facts')
    .selectAll()
    .where('kind', 'in', ['arriving', 'left'])
    .executeTakeFirst();
  if (!move) return;
  const day = new Date(move.at).toISOString().slice(0, 10);
  throw new DatabaseUnusable(
    move.kind === 'left'
      ? `This database was moved to ${move.value} on ${day}. Set DATABASE_URL to that database.`
      : `This database was copied from ${move.value} on ${day}, and the move didn't finish. Run "vps-slack store copy" with ` +
          'the same --to again; if it says that the target is not empty, empty this database first.',
  );
}

export interface Restored {
  readonly orders: number;
  readonly approvals: number;
}

/**
 * Treats the database as put back to an earlier state: what it has as confirmed may have been carried out since (docs/design.md
 * 4.12). Orders that are under way become unconfirmed, requests for approval are canceled, and what was confirmed in a form from
 * before is refused from now on.
 * Money effect: nothing that was confirmed before is sent any more.
 */
export async function markRestored(foundation: Foundation): Promise<Restored> {
  const { db, engine, newId } = foundation;
  const at = engine.clock.now();
  return engine.transact(db, async (trx) => {
    const underWay = trx.selectFrom('operations').selectAll().where('state', 'in', ['prepared', 'sent']);
    const orders = await underWay.execute();
    // First the log: a chain that begins beside orders that have left their first states would look as if it was emptied.
    for (const entry of await listEntries(trx, orders, at)) await addAudit(trx, foundation, entry);
    // A create that was not sent yet by then has no IDs from before, so that a list proves nothing: a manager decides.
    for (const [state, needs_person] of [
      ['prepared', 1],
      ['sent', 0],
    ] as const)
      await trx
        .updateTable('operations')
        .set({ state: 'unconfirmed', reason: 'restored', reason_details: null, needs_person, told_at: 0 })
        .where('state', '=', state)
        .execute();
    for (const { id, workspace_id: workspaceId } of orders)
      await addJob(trx, foundation, { kind: OPERATION, key: id, workspaceId, dueAt: at });
    // Those that wait may have been answered since.
    const approvals = await trx
      .updateTable('requests')
      .set({ state: 'canceled', outcome: 'restored', is_told: 0, claim: '' })
      .set(({ fn, val }) => ({ decided_at: fn.coalesce('decided_at', val(at)) }))
      .where('state', '=', 'open')
      .where('kind', '<>', 'role')
      .returning(['id', 'workspace_id'])
      .execute();
    for (const { id, workspace_id: workspaceId } of approvals)
      await addJob(trx, foundation, { kind: 'request', key: id, workspaceId, dueAt: at });
    await trx.insertInto('facts').values({ kind: 'restored', id: newId(), value: '', at }).execute();
    return { orders: orders.length, approvals: approvals.length };
  });
}

/** Makes an entry for each workspace and each order, sorted, since audit chains are always locked in the same order. */
async function listEntries(
  trx: Transaction<Tables>,
  orders: readonly OperationRow[],
  at: number,
): Promise<readonly AuditEntry[]> {
  const workspaces = await trx.selectFrom('workspaces').select('id').execute();
  const act = { actorId: THE_COMMAND_LINE, surface: 'cli', action: 'restore', actId: 'restore' } as const;
  const entries = workspaces.map(
    ({ id: workspaceId }): AuditEntry => ({ at, workspaceId, ...act, outcome: 'done' }),
  );
  const ended = orders.map((row) => entryOf(row, at));
  return [...entries, ...ended].sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
}

function entryOf(row: OperationRow, at: number): AuditEntry {
  const confirmed = parseConfirmed(row.purchase);
  return {
    at,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    surface: 'cli',
    action: confirmed.kind,
    actId: row.id,
    operationId: row.id,
    label: labelOf(confirmed),
    outcome: 'in_doubt',
    code: 'restored',
  };
}

/**
 * Refuses what was confirmed in a form that was opened before the last restore: it may have been confirmed, and paid, in
 * the time that the database has lost. IDs sort by the time at which their forms were opened.
 * @throws Refusal `restored`
 */
export async function refuseFromBeforeRestore(trx: Queries, id: ConfirmationId): Promise<void> {
  const later = await trx
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'restored')
    .where('id', '>', id)
    .executeTakeFirst();
  if (later) throw new Refusal('restored', {});
}
