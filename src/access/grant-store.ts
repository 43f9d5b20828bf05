import { sql, type Transaction } from 'kysely';
import type { AuditEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ChannelId, GrantId, UserId, WorkspaceId } from '../core/ids.ts';
import { EVERY_SERVER } from '../core/labels.ts';
import { type Grant, type Grantee, ROLES, type Role, roleCovers } from '../core/roles.ts';
import { addAudit } from '../db/audit.ts';
import { type Foundation, lockWorkspace, type Queries } from '../db/database.ts';
import type { GrantRow, Tables } from '../db/tables.ts';
import type { NewGrant } from './grants.ts';

export function createGrants(foundation: Foundation) {
  const { db, engine, newId } = foundation;
  return {
    /** Grants that have not ended and may apply to this user in this channel: their own, the channel's and every group's. */
    listFor: async (
      workspaceId: WorkspaceId,
      { userId, channelId }: { readonly userId: UserId; readonly channelId?: ChannelId | undefined },
      now: number,
    ): Promise<readonly Grant[]> => {
      // Written out, since every command waits for it: putting it together takes the query builder longer than reading it takes SQLite.
      const { rows } = await sql<GrantRow>`
        select * from grants
        where workspace_id = ${workspaceId} and (temporary_role = '' or until > ${now}) and (
          subject_kind = 'group' or (subject_kind = 'user' and subject_id = ${userId})
          or (subject_kind = 'channel' and subject_id = ${channelId ?? null}))
        order by granted_at, id`.execute(db);
      return rows.map(toGrant);
    },
    /** Oldest first, with ended grants that are not removed yet. */
    list: async (workspaceId: WorkspaceId): Promise<readonly Grant[]> => {
      const rows = await db
        .selectFrom('grants')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('granted_at')
        .orderBy('id')
        .execute();
      return rows.map(toGrant);
    },
    /**
     * Stores a grant. Replaces the subject's permanent grant for the same pattern or, for a temporary grant, the temporary one of
     * the same role. With `owners`, here and below, an owner's grant is changed only if one of these is left.
     * @throws Refusal `last_owner`; Error for an owner with a pattern, since owners cover every server
     */
    put: (grant: NewGrant, owners?: readonly GrantId[]): Promise<Grant> =>
      engine.transact(db, async (trx) => {
        const { granted, key } = toRow(newId(), grant);
        await lockWorkspace(trx, key.workspace_id);
        const replaced = await trx
          .selectFrom('grants')
          .select('role')
          .where(({ and }) => and(key))
          .execute();
        const row = await trx
          .insertInto('grants')
          .values({ ...granted, ...key })
          .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(granted))
          .returningAll()
          .executeTakeFirstOrThrow();
        if (grant.role !== 'owner') await refuseLastOwner(trx, key.workspace_id, replaced, owners);
        return toGrant(row);
      }),
    /** Removes one grant, or all of a subject, and returns what there was. @throws Refusal `last_owner` */
    remove: (
      workspaceId: WorkspaceId,
      which: Grantee | { readonly grantId: GrantId },
      owners?: readonly GrantId[],
    ): Promise<readonly Grant[]> =>
      engine.transact(db, async (trx) => {
        await lockWorkspace(trx, workspaceId);
        const own = trx.deleteFrom('grants').where('workspace_id', '=', workspaceId);
        const removal =
          'grantId' in which
            ? own.where('id', '=', which.grantId)
            : own.where('subject_kind', '=', which.subjectKind).where('subject_id', '=', which.subjectId);
        const rows = await removal.returningAll().execute();
        await refuseLastOwner(trx, workspaceId, rows, owners);
        return rows.sort(byAge).map(toGrant);
      }),
    /** Removes the grants of all workspaces that have ended, with their audit entries in one transaction. */
    removeEnded: (now: number, auditOf: (grant: Grant) => AuditEntry): Promise<void> =>
      engine.transact(db, async (trx) => {
        const rows = await trx
          .deleteFrom('grants')
          .where('temporary_role', 'in', ROLES)
          .where('until', '<=', now)
          .returningAll()
          .execute();
        // Audit chains are always locked in the same order, to avoid deadlocks.
        for (const grant of rows.sort(byWorkspace).map(toGrant)) {
          await lockWorkspace(trx, grant.workspaceId);
          await addAudit(trx, foundation, auditOf(grant));
        }
      }),
  };
}

/**
 * Takes back a change of grants, by ending its transaction, if an owner's was among them and none of `owners` is left. Runs after the
 * change and under the workspace's lock: of two owners who revoke each other's role, the second is refused.
 * @throws Refusal `last_owner`
 */
async function refuseLastOwner(
  trx: Queries,
  workspaceId: WorkspaceId,
  changed: readonly { readonly role: Role }[],
  owners: readonly GrantId[] | undefined,
): Promise<void> {
  if (owners === undefined || !changed.some(({ role }) => role === 'owner')) return;
  const left = await trx
    .selectFrom('grants')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .execute();
  if (!left.some(({ id }) => owners.includes(id))) throw new Refusal('last_owner', {});
}

/**
 * Grants a role without lowering or shortening any grant that the subject has. Returns the grant in force afterwards: the new
 * one, or an existing one that covers at least as much.
 */
export async function addGrant(trx: Transaction<Tables>, id: GrantId, grant: NewGrant): Promise<Grant> {
  const { granted, key } = toRow(id, grant);
  const { until } = grant;
  const atLeast = ROLES.filter((role) => roleCovers(role, grant.role));
  await lockWorkspace(trx, key.workspace_id);
  await trx
    .insertInto('grants')
    .values({ ...granted, ...key })
    .onConflict((conflict) => {
      const update = conflict.columns(KEY).doUpdateSet(granted);
      return until === undefined
        ? update.where('grants.role', 'not in', atLeast)
        : update.where('grants.until', '<', until);
    })
    .execute();
  const row = await trx
    .selectFrom('grants')
    .selectAll()
    .where(({ and }) => and(key))
    .executeTakeFirstOrThrow();
  return toGrant(row);
}

function toRow(id: GrantId, grant: NewGrant) {
  const { subjectKind, subjectId, role, pattern, until } = grant;
  if (role === 'owner' && pattern !== EVERY_SERVER) throw new Error('an owner covers every server');
  const granted = {
    id,
    role,
    pattern,
    granted_by: grant.grantedBy,
    granted_at: grant.grantedAt,
    until: until ?? 0,
  };
  const key = {
    workspace_id: grant.workspaceId,
    subject_kind: subjectKind,
    subject_id: subjectId,
    pattern_key: pattern.toLowerCase(),
    temporary_role: until === undefined ? ('' as const) : role,
  };
  return { granted, key };
}

const KEY = ['workspace_id', 'subject_kind', 'subject_id', 'pattern_key', 'temporary_role'] as const;

/** Sorts the rows of RETURNING, which have no order. */
function byAge(a: GrantRow, b: GrantRow): number {
  return a.granted_at - b.granted_at || (a.id < b.id ? -1 : 1);
}

function byWorkspace(a: GrantRow, b: GrantRow): number {
  if (a.workspace_id === b.workspace_id) return byAge(a, b);
  return a.workspace_id < b.workspace_id ? -1 : 1;
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    subjectKind: row.subject_kind,
    subjectId: row.subject_id,
    role: row.role,
    pattern: row.pattern,
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
    until: row.temporary_role === '' ? undefined : row.until,
  };
}
