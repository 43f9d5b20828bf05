import { CompiledQuery, Kysely, sql } from 'kysely';
import { openEngine } from '../../src/db/database.ts';
import type { Engine } from '../../src/db/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createMigrations } from '../../src/db/migrations/index.ts';
import { openStore as openStoreOf, type StoreOptions } from '../../src/db/open-store.ts';
import type { Tables } from '../../src/db/tables.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { realSystem } from '../../src/system.ts';
import { makeKey } from './keys.ts';

// Thousands of tests open an empty database of SQLite, and its migrations take thirty milliseconds of the processor. They
// run once in each worker; afterwards what they left is written at once. Tests of migrations open the engine itself.

/** What makes an empty database a migrated one, as one statement each. */
let script: Promise<readonly CompiledQuery[]> | undefined;

async function writeScript(): Promise<readonly CompiledQuery[]> {
  const engine = await openEngine('sqlite::memory:', { lock: true, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(db, createMigrations(createVault(parseKeyring(`test:${makeKey('migrations')}`))));
  const { rows: made } = await sql<{ name: string; type: string; sql: string }>`
    select name, type, sql from sqlite_master where sql is not null order by rowid`.execute(db);
  const filled = await Promise.all(
    made.filter(({ type }) => type === 'table').map(({ name }) => listRows(db, name)),
  );
  await db.destroy();
  await engine.close();
  return [...made.map((one) => CompiledQuery.raw(one.sql)), ...filled.flat()];
}

/** The statements that insert what a table holds: which migrations have run. */
async function listRows(db: Kysely<Tables>, table: string): Promise<readonly CompiledQuery[]> {
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
  return rows.map((row) =>
    sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row))})`.compile(db),
  );
}

/** Any engine; an empty database of SQLite is given the schema that the migrations make. */
export const openMigrated: typeof openEngine = async (url, options) => {
  const engine = await openEngine(url, options);
  if (url.startsWith('sqlite:') && engine.mayMigrate) await giveSchema(engine);
  return engine;
};

async function giveSchema({ dialect }: Engine): Promise<void> {
  script ??= writeScript();
  const statements = await script;
  const db = new Kysely<Tables>({ dialect });
  await db.connection().execute(async (one) => {
    const { rows } = await sql`select 1 from sqlite_master limit 1`.execute(one);
    if (rows.length > 0) return;
    await sql`begin immediate`.execute(one);
    for (const statement of statements) await one.executeQuery(statement);
    await sql`commit`.execute(one);
  });
}

/** Gives a file of SQLite the schema before an app opens it. */
export async function migrateEmpty(databaseUrl = ''): Promise<void> {
  if (databaseUrl.startsWith('sqlite:') && !databaseUrl.includes(':memory:'))
    await (await openMigrated(databaseUrl, { lock: true, system: realSystem })).close();
}

/** Opens a store whose migrations take no time. */
export const openStore = (options: StoreOptions) => openStoreOf({ openEngine: openMigrated, ...options });
