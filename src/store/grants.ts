import type { Selectable } from 'kysely';
import type { Grant, Grants } from '../app/ports.ts';
import type { Foundation } from './database.ts';
import type { Tables } from './tables.ts';

/** Who has which role (DESIGN 3). */
export function createGrants({ db }: Foundation): Grants {
  return {
    put: async (grant) => {
      const values = { role: grant.role, granted_by: grant.grantedBy, granted_at: grant.grantedAt };
      await db
        .insertInto('grants')
        .values({
          workspace_id: grant.workspaceId,
          subject_kind: grant.subjectKind,
          subject_id: grant.subjectId,
          ...values,
        })
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'subject_kind', 'subject_id']).doUpdateSet(values),
        )
        .execute();
    },
    remove: async (workspaceId, subjectKind, subjectId) => {
      const removed = await db
        .deleteFrom('grants')
        .where('workspace_id', '=', workspaceId)
        .where('subject_kind', '=', subjectKind)
        .where('subject_id', '=', subjectId)
        .returning('subject_id')
        .executeTakeFirst();
      return removed !== undefined;
    },
    find: async (workspaceId, subjectKind, subjectId) => {
      const row = await db
        .selectFrom('grants')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('subject_kind', '=', subjectKind)
        .where('subject_id', '=', subjectId)
        .executeTakeFirst();
      return row && toGrant(row);
    },
    list: async (workspaceId) => {
      const rows = await db
        .selectFrom('grants')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('granted_at')
        .orderBy('subject_id')
        .execute();
      return rows.map(toGrant);
    },
  };
}

function toGrant(row: Selectable<Tables['grants']>): Grant {
  return {
    workspaceId: row.workspace_id,
    subjectKind: row.subject_kind,
    subjectId: row.subject_id,
    role: row.role,
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
  };
}
