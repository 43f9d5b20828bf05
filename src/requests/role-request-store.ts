import { sql, type Transaction } from 'kysely';
import { addGrant } from '../access/grant-store.ts';
import type { AccessRequests, NewAccessRequest, RequestOutcome } from '../access/grants.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { ConfirmationId } from '../core/ids.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { keepPresent } from '../db/engine.ts';
import type { AccessRequestRow, Tables } from '../db/tables.ts';
import type { AccessRequest } from './role-request.ts';
import { createDecisionStore, fromDecisionColumns, toDecisionColumns } from './store.ts';

type Limit = Parameters<AccessRequests['request']>[1];
type Decision = Parameters<AccessRequests['decide']>[1];

/** Access requests. If two owners decide at once, the first one wins. */
export function createAccessRequests(foundation: Foundation): AccessRequests {
  const { db, engine } = foundation;
  return {
    ...createDecisionStore(foundation, {
      table: 'access_requests',
      changedAt: sql`coalesce(decided_at, asked_at)`,
      onExpiry: () => ({}),
      read: toAccessRequest,
    }),
    request: (request, limit) => engine.transact(db, (trx) => addRequest(trx, request, limit)),
    decide: (id, decision) => engine.transact(db, (trx) => decide(trx, foundation, id, decision)),
    withdraw: async (id, { requesterId, at }) => {
      const row = await db
        .updateTable('access_requests')
        .set({ state: 'withdrawn', decided_by: requesterId, decided_at: at, is_told: 0 })
        .where('id', '=', id)
        .where('asker_id', '=', requesterId)
        .where('state', '=', 'open')
        .where('expires_at', '>', at)
        .returningAll()
        .executeTakeFirst();
      return row && toAccessRequest(row);
    },
  };
}

async function addRequest(
  trx: Transaction<Tables>,
  request: NewAccessRequest,
  { since, most }: Limit,
): Promise<RequestOutcome> {
  // Two simultaneous requests of one user are serialized here, so that each counts the other.
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

/** The request with the same ID, or an earlier one for the same role that is open or was denied. */
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

/** This user's requests since then, oldest first. */
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
  id: ConfirmationId,
  { by, at, grant, denialReason }: Decision,
): Promise<AccessRequest | undefined> {
  const row = await trx
    .updateTable('access_requests')
    .set({
      state: grant ? 'approved' : 'denied',
      decided_by: by,
      decided_at: at,
      denial_reason: denialReason ?? null,
      granted_role: grant?.role ?? null,
      granted_pattern: grant?.pattern ?? null,
      is_told: 0,
    })
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

/** Makes the row of a new request. */
function toAccessRequestRow(request: NewAccessRequest): AccessRequestRow {
  return {
    ...toDecisionColumns(request),
    asker_id: request.requesterId,
    role: request.role,
    pattern: request.pattern,
    pattern_key: request.pattern.toLowerCase(),
    reason: request.reason,
    until: null,
    granted_role: null,
    granted_pattern: null,
    command: request.command ?? null,
  };
}

function toAccessRequest(row: AccessRequestRow): AccessRequest {
  return {
    ...fromDecisionColumns(row),
    state: row.state,
    requesterId: row.asker_id,
    role: row.role,
    pattern: row.pattern,
    reason: row.reason,
    ...keepPresent({ until: row.until, command: row.command, granted: grantedOf(row) }),
  };
}

/** What was granted; null where nothing was. */
function grantedOf({ granted_role: role, granted_pattern }: AccessRequestRow) {
  return role === null ? null : { role, pattern: granted_pattern ?? '' };
}
