import type { PaidPrice, Reminders } from '../../app/reminders/ports.ts';
import type { ServerId, WorkspaceId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { ReminderMark } from '../../domain/reminder.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import { toOperation } from '../purchases/ledger-rows.ts';

/** What users decided about reminders, and what the ledger knows of the servers in them. */
export function createReminders({ db }: Foundation): Reminders {
  return {
    putMark: (workspaceId, mark) => putMark(db, workspaceId, mark),
    removeMark: async (workspaceId, serverId, paidUntil) => {
      const removed = await db
        .deleteFrom('reminder_marks')
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .where('paid_until', '=', paidUntil)
        .returning('server_id')
        .executeTakeFirst();
      return removed !== undefined;
    },
    listMarks: (workspaceId) => listMarks(db, workspaceId),
    removeMarksBefore: async (paidUntil) => {
      await db.deleteFrom('reminder_marks').where('paid_until', '<', paidUntil).execute();
    },
    listRenewals: (workspaceId, serverIds) =>
      inPages(serverIds, (some) => listRenewals(db, workspaceId, some)),
    listPrices: (workspaceId, serverIds) => inPages(serverIds, (some) => listPrices(db, workspaceId, some)),
  };
}

/** The last decision about a server counts. */
async function putMark(db: Queries, workspaceId: WorkspaceId, mark: ReminderMark): Promise<void> {
  const { serverId, label, paidUntil, by, at, untilDay = '' } = mark;
  const decided = { label, paid_until: paidUntil, marked_by: by, marked_at: at, until_day: untilDay };
  await db
    .insertInto('reminder_marks')
    .values({ workspace_id: workspaceId, server_id: serverId, ...decided })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'server_id']).doUpdateSet(decided))
    .execute();
}

async function listMarks(db: Queries, workspaceId: WorkspaceId): Promise<readonly ReminderMark[]> {
  const rows = await db
    .selectFrom('reminder_marks')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('paid_until')
    .orderBy('server_id')
    .execute();
  return rows.map((row) => ({
    serverId: row.server_id,
    label: row.label,
    paidUntil: row.paid_until,
    by: row.marked_by,
    at: row.marked_at,
    untilDay: row.until_day === '' ? undefined : row.until_day,
  }));
}

async function listRenewals(
  db: Queries,
  workspaceId: WorkspaceId,
  serverIds: readonly ServerId[],
): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'renew')
    .where('state', '<>', 'refused')
    .where('server_id', 'in', serverIds)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toOperation);
}

async function listPrices(
  db: Queries,
  workspaceId: WorkspaceId,
  serverIds: readonly ServerId[],
): Promise<readonly PaidPrice[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('state', '=', 'settled')
    .where('price', 'is not', null)
    .where('server_id', 'in', serverIds)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const newest = new Map(rows.map((row) => [row.server_id, row]));
  return [...newest].flatMap(([serverId, row]) =>
    serverId === null ? [] : [{ serverId, operation: toOperation(row) }],
  );
}

/** So many values fit into a statement of every engine. */
const PAGE = 500;

async function inPages<Row>(
  ids: readonly ServerId[],
  list: (some: readonly ServerId[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let from = 0; from < ids.length; from += PAGE)
    found.push(...(await list(ids.slice(from, from + PAGE))));
  return found;
}
