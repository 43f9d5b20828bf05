import { type Kysely, type Migration, Migrator } from 'kysely';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { DatabaseUnusable } from './errors.ts';
import { requireCompatible } from './newer-migrations.ts';
import type { Migrations, NewerMigrations } from './store-migration.ts';
import type { Tables } from './tables.ts';

/**
 * Brings the schema up to this version of the app, or leaves it as a newer one has made it. Of several processes that start
 * at once, one does it.
 * @throws DatabaseUnusable when a newer version has made a schema that this one can't work with, or a migration fails
 */
export async function migrate(
  db: Kysely<Tables>,
  migrations: Migrations,
  schema?: string,
): Promise<NewerMigrations> {
  const executed = await listExecuted(db, schema);
  const newer = await requireCompatible(db, executed, migrations);
  if (newer.length > 0 || isCurrent(executed, migrations)) return newer;
  const provider = { getMigrations: async () => noteNeeds(migrations) };
  const place = omitUndefined({ migrationTableSchema: schema });
  const { error } = await new Migrator({ db, provider, ...place }).migrateToLatest();
  if (error === undefined) return newer;
  const cause = error instanceof Error ? error.message : 'unknown';
  throw new DatabaseUnusable(`The database could not be brought up to this version of the app: ${cause}.`);
}

/**
 * Checks that the schema is one that this version of the app can work with.
 * @throws DatabaseUnusable when it is older, or too new
 */
export async function requireCurrent(
  db: Kysely<Tables>,
  migrations: Migrations,
  schema?: string,
): Promise<NewerMigrations> {
  const executed = await listExecuted(db, schema);
  const newer = await requireCompatible(db, executed, migrations);
  if (isCurrent(executed, migrations)) return newer;
  throw new DatabaseUnusable(
    'The database is of an older version than this command, and an app may be using it. ' +
      'Update and restart the app first.',
  );
}

function isCurrent(executed: readonly string[], migrations: Migrations): boolean {
  return Object.keys(migrations).every((name) => executed.includes(name));
}

/** In the transaction of each migration it is noted which older versions can work beside it: they can't know that. */
function noteNeeds(migrations: Migrations): Record<string, Migration> {
  const noted = Object.entries(migrations).map(([name, { needs, ...migration }]) => {
    if (needs === undefined) return [name, migration] as const;
    const up = async (db: Kysely<Tables>) => {
      await migration.up(db);
      await db.insertInto('migration_needs').values({ name, needs }).execute();
    };
    return [name, { ...migration, up }] as const;
  });
  return Object.fromEntries(noted);
}

type MigrationTables = { kysely_migration: { name: string } };

/** The names of the migrations that this database has executed; none if the app has never used it. */
export async function listExecuted(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration' && table.schema === schema)) return [];
  const rows = await db.withTables<MigrationTables>().selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}
