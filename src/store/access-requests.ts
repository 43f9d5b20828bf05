import type { Transaction } from 'kysely';
import type { AccessRequest, AccessRequests } from '../app/access-ports.ts';
import { toAccessRequest, toAccessRequestRow } from './access-request-rows.ts';
import type { Foundation, Queries } from './database.ts';
import { putGrant } from './grants.ts';
import type { AccessRequestRow, Tables } from './tables.ts';

type NewRequest = Parameters<AccessRequests['ask']>[0];
type Decision = Parameters<AccessRequests['decide']>[1];

/** What people asked the owners for. Of two who decide at once, the first one does. */
export function createAccessRequests(foundation: Foundation): AccessRequests {
  const { db } = foundation;
  return {
    ask: (request, since) => db.transaction().execute((trx) => ask(trx, request, since)),
    find: async (id) => {
      const row = await db.selectFrom('access_requests').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toAccessRequest(row);
    },
    keepCards: async (id, cards) => {
      await db
        .updateTable('access_requests')
        .set({ cards: JSON.stringify(cards) })
        .where('id', '=', id)
        .execute();
    },
    decide: (id, decision) => db.transaction().execute((trx) => decide(trx, foundation, id, decision)),
    listOpen: async (workspaceId) => {
      const rows = await db
        .selectFrom('access_requests')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('state', '=', 'open')
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toAccessRequest);
    },
  };
}

async function ask(trx: Transaction<Tables>, request: NewRequest, since: number) {
  const row = toAccessRequestRow(request);
  const repeated = await findRepeated(trx, row, since);
  if (repeated) return { isNew: false, request: repeated, replaced: [] };
  const old = await trx
    .updateTable('access_requests')
    .set({ state: 'replaced' })
    .where('workspace_id', '=', row.workspace_id)
    .where('asker_id', '=', row.asker_id)
    .where('role', '=', row.role)
    .where('pattern_key', '=', row.pattern_key)
    .where('state', '=', 'open')
    .returningAll()
    .execute();
  const replaced = old.map(toAccessRequest);
  const inserted = await trx
    .insertInto('access_requests')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted) return { isNew: true, request: toAccessRequest(inserted), replaced };
  const winner = await findRepeated(trx, row, since);
  if (!winner) throw new Error('what stood in the way of a request has gone');
  return { isNew: false, request: winner, replaced };
}

/** The same press again, or one that asks for the same thing too soon. */
async function findRepeated(
  db: Queries,
  row: AccessRequestRow,
  since: number,
): Promise<AccessRequest | undefined> {
  const sameId = await db
    .selectFrom('access_requests')
    .selectAll()
    .where('id', '=', row.id)
    .executeTakeFirst();
  if (sameId) {
    if (sameId.workspace_id === row.workspace_id) return toAccessRequest(sameId);
    throw new Error('the id of a request belongs to another workspace');
  }
  const recent = await db
    .selectFrom('access_requests')
    .selectAll()
    .where('workspace_id', '=', row.workspace_id)
    .where('asker_id', '=', row.asker_id)
    .where('role', '=', row.role)
    .where('pattern_key', '=', row.pattern_key)
    .where('asked_at', '>=', since)
    .where('state', 'in', ['open', 'denied'])
    .orderBy('asked_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return recent && toAccessRequest(recent);
}

async function decide(
  trx: Transaction<Tables>,
  { newId }: Foundation,
  id: string,
  { by, at, grant }: Decision,
): Promise<AccessRequest | undefined> {
  const row = await trx
    .updateTable('access_requests')
    .set({
      state: grant ? 'approved' : 'denied',
      decided_by: by,
      decided_at: at,
      until: grant?.until ?? null,
    })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  if (grant && grant.workspaceId !== row.workspace_id) {
    throw new Error('a request of one workspace can give no role in another');
  }
  if (grant) await putGrant(trx, newId(), grant);
  return toAccessRequest(row);
}
