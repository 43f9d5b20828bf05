import type { Transaction } from 'kysely';
import type { AccessRequests, NewAccessRequest, RequestOutcome } from '../../app/access/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { addAudit } from '../account/audit.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { AccessRequestRow, Tables } from '../engine/tables.ts';
import { toAccessRequest, toAccessRequestRow } from './access-request-rows.ts';
import { addGrant } from './grants.ts';

type Limit = Parameters<AccessRequests['request']>[1];
type Decision = Parameters<AccessRequests['decide']>[1];

/** What people asked the owners for. Of two who decide at once, the first one does. */
export function createAccessRequests(foundation: Foundation): AccessRequests {
  const { db } = foundation;
  return {
    ...createRequestLists(foundation),
    request: (request, limit) => db.transaction().execute((trx) => ask(trx, request, limit)),
    storeCards: async (id, cards) => {
      await db
        .updateTable('access_requests')
        .set({ cards: JSON.stringify(cards) })
        .where('id', '=', id)
        .execute();
    },
    markNotified: async (id, state) => {
      await db
        .updateTable('access_requests')
        .set({ is_told: 1 })
        .where('id', '=', id)
        .where('state', '=', state)
        .execute();
    },
    decide: (id, decision) => db.transaction().execute((trx) => decide(trx, foundation, id, decision)),
    expire: (now, auditOf) =>
      db.transaction().execute(async (trx) => {
        const rows = await trx
          .updateTable('access_requests')
          .set({ state: 'expired', decided_at: now, is_told: 0 })
          .where('state', '=', 'open')
          .where('expires_at', '<=', now)
          .returningAll()
          .execute();
        // Chains are always taken in the same order, so that no two of these wait for each other.
        const expired = rows.sort(byWorkspace).map(toAccessRequest);
        for (const request of expired) await addAudit(trx, foundation, auditOf(request));
        return expired;
      }),
  };
}

function createRequestLists({
  db,
}: Foundation): Pick<AccessRequests, 'find' | 'listOpen' | 'listUnnotified'> {
  const select = () => db.selectFrom('access_requests').selectAll();
  return {
    find: async (id) => {
      const row = await select().where('id', '=', id).executeTakeFirst();
      return row && toAccessRequest(row);
    },
    listOpen: async (workspaceId) => {
      const rows = await select()
        .where('workspace_id', '=', workspaceId)
        .where('state', '=', 'open')
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toAccessRequest);
    },
    listUnnotified: async (before) => {
      const rows = await select()
        .where('is_told', '=', 0)
        .where(({ fn }) => fn.coalesce('decided_at', 'asked_at'), '<', before)
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toAccessRequest);
    },
  };
}

async function ask(
  trx: Transaction<Tables>,
  request: NewAccessRequest,
  { since, most }: Limit,
): Promise<RequestOutcome> {
  // Whoever asks twice at the same moment waits here, so that each counts what the other one has asked.
  await lockWorkspace(trx, request.workspaceId);
  const row = toAccessRequestRow(request);
  const repeated = await findRepeated(trx, row, since);
  if (repeated) return { kind: 'repeated', request: repeated };
  const recent = await listRecent(trx, row, since);
  if (recent.length >= most) return { kind: 'too_many', recent };
  const old = await trx
    .updateTable('access_requests')
    .set({ state: 'replaced', decided_at: row.asked_at, is_told: 0 })
    .where('workspace_id', '=', row.workspace_id)
    .where('asker_id', '=', row.asker_id)
    .where('role', '=', row.role)
    .where('pattern_key', '=', row.pattern_key)
    .where('state', '=', 'open')
    .returningAll()
    .execute();
  const inserted = await trx
    .insertInto('access_requests')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { kind: 'new', request: toAccessRequest(inserted), replaced: old.map(toAccessRequest) };
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
  const recent = await listRecent(db, row, since);
  return recent.findLast(
    ({ role, pattern, state }) =>
      role === row.role && pattern.toLowerCase() === row.pattern_key && ['open', 'denied'].includes(state),
  );
}

/** What this person asked for since then, oldest first. */
async function listRecent(
  db: Queries,
  row: AccessRequestRow,
  since: number,
): Promise<readonly AccessRequest[]> {
  const rows = await db
    .selectFrom('access_requests')
    .selectAll()
    .where('workspace_id', '=', row.workspace_id)
    .where('asker_id', '=', row.asker_id)
    .where('asked_at', '>=', since)
    .orderBy('asked_at')
    .orderBy('id')
    .execute();
  return rows.map(toAccessRequest);
}

async function decide(
  trx: Transaction<Tables>,
  { newId }: Foundation,
  id: string,
  { by, at, grant }: Decision,
): Promise<AccessRequest | undefined> {
  const row = await trx
    .updateTable('access_requests')
    .set({ state: grant ? 'approved' : 'denied', decided_by: by, decided_at: at, is_told: 0 })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('expires_at', '>', at)
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  if (!grant) return toAccessRequest(row);
  if (grant.workspaceId !== row.workspace_id) {
    throw new Error('a request of one workspace can give no role in another');
  }
  const { until = null } = await addGrant(trx, newId(), grant);
  await trx.updateTable('access_requests').set({ until }).where('id', '=', id).execute();
  return toAccessRequest({ ...row, until });
}

/** For what a RETURNING gives: that has no order. */
function byWorkspace(a: AccessRequestRow, b: AccessRequestRow): number {
  if (a.workspace_id !== b.workspace_id) return a.workspace_id < b.workspace_id ? -1 : 1;
  return a.asked_at - b.asked_at || (a.id < b.id ? -1 : 1);
}
