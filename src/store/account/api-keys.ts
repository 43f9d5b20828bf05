import type { ApiKeys } from '../../app/account/ports.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace } from '../../vault.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { ApiKeyRow } from '../engine/tables.ts';
import { countChange } from './versions.ts';

/** The API key of each workspace, sealed for that workspace, who set it and when: an altered row opens nothing. */
export function createApiKeys({ db, engine, vault }: Foundation): ApiKeys {
  return {
    find: async (workspaceId) => {
      const row = await db
        .selectFrom('api_keys')
        .leftJoin('workspace_versions', 'workspace_versions.workspace_id', 'api_keys.workspace_id')
        .select(['api_keys.workspace_id', 'sealed', 'set_by', 'set_at', 'key_generation'])
        .where('api_keys.workspace_id', '=', workspaceId)
        .executeTakeFirst();
      if (!row) return undefined;
      const key = new Secret(vault.open(row.sealed, placeOfKey(row)));
      return { key, setBy: row.set_by, generation: row.key_generation ?? 0 };
    },
    put: async (workspaceId, key, setBy, at) => {
      const facts = { workspace_id: workspaceId, set_by: setBy, set_at: at };
      const row = { ...facts, sealed: vault.seal(key.reveal(), placeOfKey(facts)) };
      await engine.transact(db, async (trx) => {
        await trx
          .insertInto('api_keys')
          .values(row)
          .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
          .execute();
        await countChange(trx, workspaceId, 'key_generation');
      });
      await engine.scrub(db);
    },
    remove: async (workspaceId) => {
      const isRemoved = await engine.transact(db, (trx) => removeKey(trx, workspaceId));
      if (isRemoved) await engine.scrub(db);
      return isRemoved;
    },
    listWorkspaces: async () => {
      const rows = await db.selectFrom('api_keys').select('workspace_id').orderBy('workspace_id').execute();
      return rows.map(({ workspace_id }) => workspace_id);
    },
  };
}

async function removeKey(trx: Queries, workspaceId: string): Promise<boolean> {
  const row = await trx
    .deleteFrom('api_keys')
    .where('workspace_id', '=', workspaceId)
    .returning('workspace_id')
    .executeTakeFirst();
  if (row) await countChange(trx, workspaceId, 'key_generation');
  return row !== undefined;
}

/** Bound to who set it and when, so that a row that was altered or put back in part opens nothing. */
export function placeOfKey(row: Pick<ApiKeyRow, 'workspace_id' | 'set_by' | 'set_at'>): SealedPlace {
  return {
    table: 'api_keys',
    row: row.workspace_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.set_by, row.set_at],
  };
}
