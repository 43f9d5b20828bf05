import type { Transaction } from 'kysely';
import type { AuditEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { THE_APP, THE_COMMAND_LINE } from '../core/roles.ts';
import { parseConfirmed } from '../purchases/ledger-rows.ts';
import { labelOf, OPERATION } from '../purchases/operation.ts';
import { addAudit } from './audit.ts';
import type { Foundation, Queries } from './database.ts';
import { DatabaseUnusable } from './engine.ts';
import { addJob } from './jobs.ts';
import type { FactRow, Tables } from './tables.ts';

/** Finds the move by which the data of this database left it, or was about to. */
export async function findDeparture(db: Queries): Promise<FactRow | undefined> {
  return db
    .selectFrom('facts')
    .selectAll()
    .where('kind', 'in', ['leaving', 'left'])
    .orderBy('at', 'desc')
    .executeTakeFirst();
}

/** Refuses a database whose data was moved to another one, or may have been. @throws DatabaseUnusable */
export async function refuseMoved(db: Queries): Promise<void> {
  const move = await findDeparture(db);
  if (!move) return;
  const day = new Date(move.at).toISOString().slice(0, 10);
  throw new DatabaseUnusable(
    move.kind === 'left'
      ? `This database was moved to ${move.value} on ${day}. Set DATABASE_URL to that database.`
      : `This database was being moved to ${move.value} on ${day}, and the move didn't finish. ` +
          'Run "npm run store -- copy" with the same --to again.',
  );
}

/** How it is known that a database was restored. */
interface RestoredBy {
  /** The operator said so. */
  readonly isCommand: boolean;
  /** This order was sent from here, and the database doesn't know that. */
  readonly orderId?: ConfirmationId | undefined;
}

/** What a restore changed. */
export interface Restored {
  readonly orders: number;
  readonly approvals: number;
}

/**
 * Takes the database for one that was put back to an earlier state: what it has as confirmed may have been carried out
 * since (docs/design.md 4.12). Orders that are under way become unconfirmed, requests for approval are canceled, and what was
 * confirmed in a form from before is refused from now on.
 * Money effect: nothing that was confirmed before is sent any more.
 */
export async function markRestored(foundation: Foundation, at: number, by: RestoredBy): Promise<Restored> {
  const { db, engine, newId } = foundation;
  return engine.transact(db, async (trx) => {
    const orders = await listOrders(trx);
    // First the log: a chain that begins beside orders that have left their first states would look as if it was emptied.
    for (const entry of await listEntries(trx, orders, at, by.isCommand))
      await addAudit(trx, foundation, entry);
    await endOrders(trx);
    for (const { id, workspace_id: workspaceId } of orders)
      await addJob(trx, foundation, { kind: OPERATION, key: id, workspaceId, dueAt: at });
    const approvals = await cancelApprovals(trx, at);
    for (const { id, workspace_id: workspaceId } of approvals)
      await addJob(trx, foundation, { kind: 'request', key: id, workspaceId, dueAt: at });
    await trx
      .insertInto('facts')
      .values({ kind: 'restored', id: newId(), value: by.orderId ?? '', at })
      .execute();
    return { orders: orders.length, approvals: approvals.length };
  });
}

type OrderRow = Awaited<ReturnType<typeof listOrders>>[number];

/** Lists the orders that are under way. */
function listOrders(trx: Transaction<Tables>) {
  return trx.selectFrom('operations').selectAll().where('state', 'in', ['prepared', 'sent']).execute();
}

/** A create that was not sent yet by then has no IDs from before, so that a list proves nothing: a manager decides. */
async function endOrders(trx: Transaction<Tables>): Promise<void> {
  for (const [state, needs_person] of [
    ['prepared', 1],
    ['sent', 0],
  ] as const)
    await trx
      .updateTable('operations')
      .set({ state: 'unconfirmed', reason: 'restored', reason_details: null, needs_person })
      .set({ told_at: 0 })
      .where('state', '=', state)
      .execute();
}

/** Those that wait may have been answered since. */
function cancelApprovals(trx: Transaction<Tables>, at: number) {
  return trx
    .updateTable('requests')
    .set({ state: 'canceled', outcome: 'restored', is_told: 0, claim: '' })
    .set(({ fn, val }) => ({ decided_at: fn.coalesce('decided_at', val(at)) }))
    .where('state', '=', 'open')
    .where('kind', '<>', 'role')
    .returning(['id', 'workspace_id'])
    .execute();
}

/** Makes an entry for each workspace and each order, sorted, since audit chains are always locked in the same order. */
async function listEntries(
  trx: Transaction<Tables>,
  orders: readonly OrderRow[],
  at: number,
  isCommand: boolean,
): Promise<readonly AuditEntry[]> {
  const surface = isCommand ? 'cli' : 'background';
  const workspaces = await trx.selectFrom('workspaces').select('id').execute();
  const entries = workspaces.map(({ id: workspaceId }): AuditEntry => {
    const actorId = isCommand ? THE_COMMAND_LINE : THE_APP;
    return { at, workspaceId, actorId, surface, action: 'restore', actId: 'restore', outcome: 'done' };
  });
  const ended = orders.map((row) => entryOf(row, at, surface));
  return [...entries, ...ended].sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
}

/** Makes the entry of an order, by the user who confirmed it. */
function entryOf(row: OrderRow, at: number, surface: AuditEntry['surface']): AuditEntry {
  const confirmed = parseConfirmed(row.purchase);
  return {
    at,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    surface,
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
