import { type Kysely, type Migration, Migrator } from 'kysely';
import { DatabaseUnusable } from './engine.ts';
import type { Tables } from './tables.ts';

/** Changes of the schema by name, which the first start of a new version of the app makes. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the schema up to this version of the app. Of several processes that start at once, one does it.
 * @throws DatabaseUnusable when a newer version has changed the schema, or a migration fails
 */
export async function migrate(db: Kysely<Tables>, migrations: Migrations, schema?: string): Promise<void> {
  const executed = await listExecuted(db, schema);
  refuseNewer(executed, migrations);
  if (isCurrent(executed, migrations)) return;
  const provider = { getMigrations: async () => migrations };
  const place = { migrationTableSchema: schema };
  const { error } = await new Migrator({ db, provider, ...place }).migrateToLatest();
  if (error === undefined) return;
  const cause = error instanceof Error ? error.message : 'unknown';
  throw new DatabaseUnusable(`The database could not be brought up to this version of the app: ${cause}.`);
}

/**
 * Checks that the schema is the one of this version of the app.
 * @throws DatabaseUnusable when it is older or newer
 */
export async function requireCurrent(
  db: Kysely<Tables>,
  migrations: Migrations,
  schema?: string,
): Promise<void> {
  const executed = await listExecuted(db, schema);
  refuseNewer(executed, migrations);
  if (isCurrent(executed, migrations)) return;
  throw new DatabaseUnusable(
    'The database is of an older version than this command, and an app may be using it. ' +
      'Update and restart the app first.',
  );
}

/** @throws DatabaseUnusable */
function refuseNewer(executed: readonly string[], migrations: Migrations): void {
  const newer = executed.find((name) => !Object.hasOwn(migrations, name));
  if (newer === undefined) return;
  throw new DatabaseUnusable(
    `The database was changed by a newer version of the app (it has "${newer}"), and this version can't work with ` +
      'it. Start that version.',
  );
}

function isCurrent(executed: readonly string[], migrations: Migrations): boolean {
  return Object.keys(migrations).every((name) => executed.includes(name));
}

type MigrationTables = { kysely_migration: { name: string } };

/** The names of the migrations that this database has executed; none if the app has never used it. */
export async function listExecuted(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration' && table.schema === schema)) return [];
  const rows = await db.withTables<MigrationTables>().selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}
