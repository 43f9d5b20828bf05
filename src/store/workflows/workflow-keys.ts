import { z } from 'zod';
import type { HashedKey, WorkflowKeys } from '../../app/workflows/ports.ts';
import { POWER_ACTIONS } from '../../domain/server.ts';
import type { WorkflowKey } from '../../domain/workflow-key.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { WorkflowKeyRow } from '../engine/workflow-tables.ts';

/** Workflow keys; of a key itself, only the hash is stored. */
export function createWorkflowKeys(foundation: Foundation): WorkflowKeys {
  const { db, engine } = foundation;
  return {
    add: (key, most) => engine.transact(db, (trx) => addKey(trx, key, most)),
    find: async (workspaceId, id) => {
      const row = await db
        .selectFrom('workflow_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toKey(row);
    },
    findByHash: async (workspaceId, hash) => {
      const row = await db
        .selectFrom('workflow_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('hash', '=', hash)
        .executeTakeFirst();
      return row && toKey(row);
    },
    list: (workspaceId) => listKeys(db, workspaceId),
    remove: async (workspaceId, id) => {
      const row = await db
        .deleteFrom('workflow_keys')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return row && toKey(row);
    },
  };
}

async function listKeys(db: Queries, workspaceId: string): Promise<readonly WorkflowKey[]> {
  const rows = await db
    .selectFrom('workflow_keys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('issued_at')
    .orderBy('id')
    .execute();
  return rows.map(toKey);
}

async function addKey(trx: Queries, key: HashedKey, most: number): Promise<boolean> {
  const { id, workspaceId, name, hash, actions, pattern, issuedBy, issuedAt, until } = key;
  if ((await listKeys(trx, workspaceId)).length >= most) return false;
  const added = await trx
    .insertInto('workflow_keys')
    .values({
      ...{ id, workspace_id: workspaceId, name, name_key: name.toLowerCase(), hash, pattern },
      ...{ actions: actions.join(','), issued_by: issuedBy, issued_at: issuedAt },
      ...{ until: until ?? null, last_used_at: null },
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** An action of a newer version is one that this version doesn't carry out. */
const action = z.enum(POWER_ACTIONS);

function toKey(row: WorkflowKeyRow): WorkflowKey {
  const actions = row.actions.split(',').flatMap((each) => action.safeParse(each).data ?? []);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    actions,
    pattern: row.pattern,
    issuedBy: row.issued_by,
    issuedAt: row.issued_at,
    ...keepPresent({ until: row.until, lastUsedAt: row.last_used_at }),
  };
}
