import type { AccountNames } from '../core/ids.ts';
import { Secret } from '../core/secret.ts';
import { beginChain } from '../db/audit.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { lockWorkspace } from '../db/locks.ts';
import type { ApiKeyRow } from '../db/tables.ts';
import type { SealedPlace, Vault } from '../db/vault.ts';

interface HeldKey {
  readonly key: Secret<string>;
  readonly setBy: string;
  /** The account that it opens, by all of its names. */
  readonly account: AccountNames;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** Stores the API key of each workspace, sealed and bound to workspace, setter and time: an altered row can't be opened. */
export function createApiKeys(foundation: Foundation) {
  const { db, engine, vault } = foundation;
  return {
    /** @throws Refusal `key_unreadable` if `ENCRYPTION_KEYS` lacks the key that sealed it */
    find: async (workspaceId: string): Promise<HeldKey | undefined> => {
      const row = await findRow(db, workspaceId);
      if (!row) return undefined;
      const key = openKey(vault, row);
      return { key, setBy: row.set_by, account: vault.namesOf(key) };
    },
    put: (workspaceId: string, key: Secret<string>, setBy: string, at: number): Promise<void> =>
      putKey(foundation, workspaceId, key, { setBy, at }),
    /** False if there was none. */
    remove: async (workspaceId: string): Promise<boolean> => {
      const isRemoved = await engine.transact(db, (trx) => removeKey(trx, workspaceId));
      if (isRemoved) await engine.scrub(db);
      return isRemoved;
    },
    listWorkspaces: async (): Promise<readonly string[]> => {
      const rows = await db.selectFrom('api_keys').select('workspace_id').orderBy('workspace_id').execute();
      return rows.map(({ workspace_id }) => workspace_id);
    },
  };
}

/** Removes the key of a workspace within a transaction. False if there was none. */
export async function removeKey(trx: Queries, workspaceId: string): Promise<boolean> {
  await lockWorkspace(trx, workspaceId);
  const row = await trx
    .deleteFrom('api_keys')
    .where('workspace_id', '=', workspaceId)
    .returning('workspace_id')
    .executeTakeFirst();
  return row !== undefined;
}

function findRow(db: Queries, workspaceId: string): Promise<ApiKeyRow | undefined> {
  return db.selectFrom('api_keys').selectAll().where('workspace_id', '=', workspaceId).executeTakeFirst();
}

/** Lists the names of the key that a workspace has; none without a key. @throws as `Vault.open` does */
export async function listNamesOfKey(
  db: Queries,
  vault: Vault,
  workspaceId: string,
): Promise<readonly string[]> {
  const row = await findRow(db, workspaceId);
  return row ? vault.namesOf(openKey(vault, row)) : [];
}

async function putKey(
  { db, engine, vault }: Foundation,
  workspaceId: string,
  key: Secret<string>,
  { setBy, at }: { readonly setBy: string; readonly at: number },
): Promise<void> {
  const facts = { workspace_id: workspaceId, set_by: setBy, set_at: at };
  const row = { ...facts, sealed: vault.seal(key.reveal(), placeOfKey(facts)) };
  await engine.transact(db, async (trx) => {
    await lockWorkspace(trx, workspaceId);
    await beginChain(trx, vault, workspaceId);
    await trx
      .insertInto('api_keys')
      .values(row)
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
      .execute();
  });
  await engine.scrub(db);
}

function openKey(vault: Vault, row: ApiKeyRow): Secret<string> {
  return new Secret(vault.open(row.sealed, placeOfKey(row)));
}

/** Binds a sealed key to its setter and time, so that a row that was altered or partly restored can't be opened. */
export function placeOfKey(row: Pick<ApiKeyRow, 'workspace_id' | 'set_by' | 'set_at'>): SealedPlace {
  return {
    table: 'api_keys',
    row: row.workspace_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.set_by, row.set_at],
  };
}
