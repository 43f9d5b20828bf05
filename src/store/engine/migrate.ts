import { type Kysely, type Migration, Migrator } from 'kysely';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { DatabaseUnusable } from './errors.ts';
import type { Tables } from './tables.ts';

/** Migrations by name. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the schema up to this version of the app. Of several processes that start at once, one does it.
 * @throws DatabaseUnusable when it was written by a newer one, or a migration fails
 */
export async function migrate(db: Kysely<Tables>, migrations: Migrations, schema?: string): Promise<void> {
  refuseNewer(await listExecuted(db, schema), migrations);
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const place = omitUndefined({ migrationTableSchema: schema });
  const { error } = await new Migrator({ db, provider, ...place }).migrateToLatest();
  if (error === undefined) return;
  const cause = error instanceof Error ? error.message : 'unknown';
  throw new DatabaseUnusable(`The database could not be brought up to this version of the app: ${cause}.`);
}

/**
 * Checks that the schema is the one that this version of the app needs.
 * @throws DatabaseUnusable when it is older or newer
 */
export async function requireCurrent(
  db: Kysely<Tables>,
  migrations: Migrations,
  schema?: string,
): Promise<void> {
  const executed = await listExecuted(db, schema);
  refuseNewer(executed, migrations);
  if (Object.keys(migrations).every((name) => executed.includes(name))) return;
  throw new DatabaseUnusable(
    'The database is of an older version than this command, and an app may be using it. ' +
      'Update and restart the app first.',
  );
}

function refuseNewer(executed: readonly string[], migrations: Migrations): void {
  const unknown = executed.find((name) => !Object.hasOwn(migrations, name));
  if (unknown === undefined) return;
  throw new DatabaseUnusable(
    `The database was written by a newer version of the app (it has "${unknown}"). Start that version.`,
  );
}

type MigrationTables = { kysely_migration: { name: string } };

async function listExecuted(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration' && table.schema === schema)) return [];
  const rows = await db.withTables<MigrationTables>().selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}
