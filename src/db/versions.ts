import { sql } from 'kysely';
import type { Versions } from '../purchases/ports.ts';
import type { Queries } from './database.ts';
import type { VersionsRow } from './tables.ts';

type Counted = 'key_generation' | 'access_version' | 'settings_version';

/** Counts a change, in the transaction that makes it: a payment that was permitted before it is checked again. */
export async function countChange(trx: Queries, workspaceId: string, what: Counted): Promise<void> {
  const column = sql.ref(what);
  await sql`insert into workspace_versions (workspace_id, ${column}) values (${workspaceId}, 1)
    on conflict (workspace_id) do update set ${column} = workspace_versions.${column} + 1`.execute(trx);
}

/** How often the key, the grants and the settings of a workspace have changed. */
export async function readVersions(db: Queries, workspaceId: string): Promise<Versions> {
  const row = await db
    .selectFrom('workspace_versions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return toVersions(row);
}

/** The same, held until the transaction ends: every change of them then comes before it or after it. */
export async function lockVersions(trx: Queries, workspaceId: string): Promise<Versions> {
  const row = await trx
    .insertInto('workspace_versions')
    .values({ workspace_id: workspaceId })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ workspace_id: workspaceId }))
    .returningAll()
    .executeTakeFirst();
  return toVersions(row);
}

function toVersions(row: VersionsRow | undefined): Versions {
  return {
    key: row?.key_generation ?? 0,
    access: row?.access_version ?? 0,
    settings: row?.settings_version ?? 0,
  };
}
