import { Secret } from '../core/secret.ts';
import { takeChain } from '../db/audit-chain.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { ApiKeyRow } from '../db/tables.ts';
import type { SealedPlace } from '../db/vault.ts';
import { countChange } from '../db/versions.ts';
import { forgetServers, joinEarlierNames } from './one-account.ts';
import type { ApiKeys } from './ports.ts';

/** Stores the API key of each workspace, sealed and bound to workspace, setter and time: an altered row can't be opened. */
export function createApiKeys(foundation: Foundation): ApiKeys {
  const { db, engine, vault } = foundation;
  return {
    find: async (workspaceId) => {
      const row = await db
        .selectFrom('api_keys')
        .leftJoin('workspace_versions', 'workspace_versions.workspace_id', 'api_keys.workspace_id')
        .select(['api_keys.workspace_id', 'sealed', 'set_by', 'set_at', 'account', 'key_generation'])
        .where('api_keys.workspace_id', '=', workspaceId)
        .executeTakeFirst();
      if (!row) return undefined;
      const key = new Secret(vault.open(row.sealed, placeOfKey(row)));
      await keepName(foundation, row, key);
      return { key, setBy: row.set_by, generation: row.key_generation ?? 0 };
    },
    put: (workspaceId, key, setBy, at) => putKey(foundation, workspaceId, key, { setBy, at }),
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

/** Removes the key of a workspace within a transaction. False if there was none. */
export async function removeKey(trx: Queries, workspaceId: string): Promise<boolean> {
  const row = await trx
    .deleteFrom('api_keys')
    .where('workspace_id', '=', workspaceId)
    .returning('account')
    .executeTakeFirst();
  if (!row) return false;
  await countChange(trx, workspaceId, 'key_generation');
  await forgetServers(trx, row.account);
  return true;
}

/** Finds the name of a workspace's key; undefined without a key, '' for the row of an older version that wasn't used since. */
export async function findNameOfKey(trx: Queries, workspaceId: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom('api_keys')
    .select('account')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.account;
}

async function putKey(
  { db, engine, vault }: Foundation,
  workspaceId: string,
  key: Secret<string>,
  { setBy, at }: { readonly setBy: string; readonly at: number },
): Promise<void> {
  const facts = { workspace_id: workspaceId, set_by: setBy, set_at: at };
  const names = vault.namesOf(key.reveal());
  const row = { ...facts, account: names[0], sealed: vault.seal(key.reveal(), placeOfKey(facts)) };
  await engine.transact(db, async (trx) => {
    // Starts the chain, so that an API key without one is a sign that the audit was emptied.
    await takeChain(trx, vault, workspaceId);
    const before = await findNameOfKey(trx, workspaceId);
    await trx
      .insertInto('api_keys')
      .values(row)
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
      .execute();
    await countChange(trx, workspaceId, 'key_generation');
    await joinEarlierNames(trx, names);
    if (before !== undefined) await forgetServers(trx, before);
  });
  await engine.scrub(db);
}

/** Updates a key's name, which changes with the first key of the keyring and after an update from an older version. */
async function keepName(
  { db, engine, vault }: Foundation,
  row: Pick<ApiKeyRow, 'workspace_id' | 'sealed' | 'account'>,
  key: Secret<string>,
): Promise<void> {
  const names = vault.namesOf(key.reveal());
  if (row.account === names[0]) return;
  await engine.transact(db, async (trx) => {
    await trx
      .updateTable('api_keys')
      .set({ account: names[0] })
      .where('workspace_id', '=', row.workspace_id)
      .where('sealed', '=', row.sealed)
      .execute();
    await joinEarlierNames(trx, names);
    await forgetServers(trx, row.account);
  });
}

/** Binds a sealed key to its setter and time, so that a row that was altered or partly restored can't be opened. */
function placeOfKey(row: Pick<ApiKeyRow, 'workspace_id' | 'set_by' | 'set_at'>): SealedPlace {
  return {
    table: 'api_keys',
    row: row.workspace_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.set_by, row.set_at],
  };
}
