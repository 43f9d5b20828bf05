import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { AuditEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { THE_APP, THE_COMMAND_LINE } from '../core/roles.ts';
import { labelOf, OPERATION, parseConfirmed } from '../purchases/operation.ts';
import { addAudit } from './audit.ts';
import { DatabaseUnusable, type Foundation, type Queries } from './database.ts';
import { addJob } from './jobs.ts';
import type { FactRow, OperationRow, Tables } from './tables.ts';

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
          'Run "vps-slack store copy" with the same --to again.',
  );
}

interface RestoredBy {
  readonly isCommand: boolean;
  /** This order was sent from here, and the database doesn't know that. */
  readonly orderId?: ConfirmationId | undefined;
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
export async function markRestored(foundation: Foundation, at: number, by: RestoredBy): Promise<Restored> {
  const { db, engine, newId } = foundation;
  return engine.transact(db, async (trx) => {
    const underWay = trx.selectFrom('operations').selectAll().where('state', 'in', ['prepared', 'sent']);
    const orders = await underWay.execute();
    // First the log: a chain that begins beside orders that have left their first states would look as if it was emptied.
    for (const entry of await listEntries(trx, orders, at, by.isCommand))
      await addAudit(trx, foundation, entry);
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
    await trx
      .insertInto('facts')
      .values({ kind: 'restored', id: newId(), value: by.orderId ?? '', at })
      .execute();
    return { orders: orders.length, approvals: approvals.length };
  });
}

/** Makes an entry for each workspace and each order, sorted, since audit chains are always locked in the same order. */
async function listEntries(
  trx: Transaction<Tables>,
  orders: readonly OperationRow[],
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

function entryOf(row: OperationRow, at: number, surface: AuditEntry['surface']): AuditEntry {
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

const FOUND =
  'The database is older than an order that was sent from here, so it was restored from a backup, or has lost commits. ' +
  'Orders that were confirmed or sent in the backup are now unconfirmed, and requests for approval were canceled. ' +
  'Compare the hosting account with /vps list before anyone orders again.';

/**
 * Looks whether the database knows the last order that was sent from here. If it doesn't, it was put back to an earlier
 * state, and is treated so once. Returns what the operator has to know.
 */
export async function findRestore(foundation: Foundation, lastSent: LastSent): Promise<readonly string[]> {
  const { db, engine } = foundation;
  const orderId = await findLostOrder(foundation, lastSent);
  if (orderId === undefined || (await isNoted(db, orderId))) return [];
  await markRestored(foundation, engine.clock.now(), { isCommand: false, orderId });
  return [FOUND];
}

/** The order that was sent last from here, if this database has sent it and doesn't know that. */
export async function findLostOrder(
  foundation: Foundation,
  lastSent: LastSent,
): Promise<ConfirmationId | undefined> {
  const last = lastSent.read();
  // Of another database that keeps its notes in the same folder, or did so before.
  if (last?.store !== (await identify(foundation))) return undefined;
  const known = await foundation.db
    .selectFrom('operations')
    .select('id')
    .where('id', '=', last.order)
    .where('state', '<>', 'prepared')
    .executeTakeFirst();
  return known ? undefined : last.order;
}

/** The ID that the database was given at its first start, and that each backup of it has. */
export async function identify({ db, engine, newId }: Foundation): Promise<string> {
  await db
    .insertInto('facts')
    .values({ kind: 'identity', id: '', value: newId(), at: engine.clock.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('facts')
    .select('value')
    .where('kind', '=', 'identity')
    .executeTakeFirstOrThrow();
  return value;
}

/** Whether a restore has been found by this order before. */
async function isNoted(db: Queries, orderId: ConfirmationId): Promise<boolean> {
  const row = await db
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'restored')
    .where('value', '=', orderId)
    .executeTakeFirst();
  return row !== undefined;
}

const sentOrder = z.object({
  store: z.string().min(1),
  order: z.string().min(1),
});

export type LastSent = ReturnType<typeof createLastSent>;

/**
 * Keeps which order was sent last in a file that no backup of the database puts back: a copy of the database that does not know the
 * order is older than that (docs/design.md 4.12). It is in this folder, for its owner only; nowhere for a database in memory.
 * `newId` keeps processes apart.
 */
export function createLastSent(folder: string | undefined, newId: () => string) {
  const path = folder && join(folder, 'last-sent.json');
  return {
    /** Called after the database has stored that it was sent, and before the request leaves. */
    write: (sent: z.output<typeof sentOrder>): void => {
      // The order itself is stored: that a restore could not be noticed later is no reason to refuse it.
      try {
        if (path) replace(path, `${path}.${newId()}.part`, JSON.stringify(sent));
      } catch {}
    },
    /** Undefined where nothing was sent from here, or the file is gone. */
    read: () => {
      try {
        return path ? sentOrder.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
      } catch {
        return undefined;
      }
    },
    /** Why nothing can be noted, in a sentence for the operator. */
    fault: folder && findFault(folder),
  };
}

function replace(path: string, part: string, text: string): void {
  const file = openSync(part, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

function findFault(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return (
      `The folder ${folder} can't be written to: responses to paid orders can't be kept there, and the app ` +
      'would not notice that the database was restored from a backup.'
    );
  }
}
