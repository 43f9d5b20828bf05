import type { ApiKeys } from '../../app/account/ports.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace } from '../../vault.ts';
import type { Foundation } from '../engine/database.ts';
import type { ApiKeyRow } from '../engine/tables.ts';

/** The API key of each workspace, sealed for that workspace, who set it and when: an altered row opens nothing. */
export function createApiKeys({ db, engine, vault }: Foundation): ApiKeys {
  return {
    find: async (workspaceId) => {
      const row = await db
        .selectFrom('api_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst();
      if (!row) return undefined;
      const key = new Secret(vault.open(row.sealed, placeOfKey(row)));
      return { key, setBy: row.set_by, setAt: row.set_at };
    },
    put: async (workspaceId, key, setBy, at) => {
      const facts = { workspace_id: workspaceId, set_by: setBy, set_at: at };
      const row = { ...facts, sealed: vault.seal(key.reveal(), placeOfKey(facts)) };
      await db
        .insertInto('api_keys')
        .values(row)
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
        .execute();
      await engine.scrub(db);
    },
    remove: async (workspaceId) => {
      const removed = await db
        .deleteFrom('api_keys')
        .where('workspace_id', '=', workspaceId)
        .returning('workspace_id')
        .executeTakeFirst();
      if (removed) await engine.scrub(db);
      return removed !== undefined;
    },
    listWorkspaces: async () => {
      const rows = await db.selectFrom('api_keys').select('workspace_id').orderBy('workspace_id').execute();
      return rows.map(({ workspace_id }) => workspace_id);
    },
  };
}

/** Bound to since when it counts as well: an older time would let an order for another account through. */
export function placeOfKey(row: Pick<ApiKeyRow, 'workspace_id' | 'set_by' | 'set_at'>): SealedPlace {
  return {
    table: 'api_keys',
    row: row.workspace_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.set_by, row.set_at],
  };
}
