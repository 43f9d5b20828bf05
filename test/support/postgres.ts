import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Client } from 'pg';
import { inject } from 'vitest';
import { openEngine, openStore } from '../../src/db/open-store.ts';
import { migrate } from '../../src/db/schema.ts';
import type { Tables } from '../../src/db/tables.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { realSystem } from '../../src/system.ts';
import { makeKey } from './environment.ts';
import { queryDatabase } from './query-database.ts';

/** Where tests can make databases; undefined where there is no server. */
export const postgresUrl = inject('postgres')?.url;

/** For stories that are told on each. */
export const ENGINES = postgresUrl ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);

/** A database of this worker, with the schema and no rows. */
interface TestDatabase {
  readonly url: string;
  readonly client: Client;
}

const vault = createVault(parseKeyring(`test:${makeKey('postgres')}`));
const free: TestDatabase[] = [];
let made = 0;

/** Lends a database of PostgreSQL that no other test uses at the same time. Making one takes longer than emptying it. */
export async function lendDatabase() {
  const database = free.pop() ?? (await makeDatabase());
  /** Empties it, for the next test. */
  const giveBack = async () => {
    await empty(database);
    free.push(database);
  };
  const query = (sql: string) => database.client.query(sql);
  return { url: database.url, query, empty: () => empty(database), giveBack };
}

/** A server that was installed without a locale makes databases of another encoding. */
const UTF8 = "encoding 'UTF8' locale 'C' template template0";

/** Makes a database without any tables, unless the options say otherwise. It is dropped after the last test. */
export async function createEmptyDatabase(options = UTF8): Promise<string> {
  const server = inject('postgres');
  if (!server) throw new Error('there is no PostgreSQL server');
  made += 1;
  const name = `${server.prefix}${process.pid}_${made}`;
  await queryDatabase(server.url, `create database "${name}" ${options}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** The name of a database that the migrations have run on, and nothing else. */
let template: Promise<string> | undefined;

/** Makes a database with the schema, which no app has opened yet. Copying one is faster than the migrations. */
export async function createMigratedDatabase(): Promise<string> {
  template ??= makeTemplate();
  return createEmptyDatabase(`template "${await template}"`);
}

async function makeTemplate(): Promise<string> {
  const url = await createEmptyDatabase();
  const engine = await openEngine(url, { lock: true, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.migrationDialect ?? engine.dialect });
  try {
    await migrate(db, engine);
  } finally {
    await db.destroy();
    await engine.close();
  }
  return new URL(url).pathname.slice(1);
}

async function makeDatabase(): Promise<TestDatabase> {
  const url = await createMigratedDatabase();
  await (await openStore({ databaseUrl: url, vault, system: realSystem, openEngine: asInTests })).close();
  const client = new Client(url);
  // The database is dropped with this connection open.
  client.on('error', () => undefined);
  await client.connect();
  // The keys of that store are not the next one's.
  await empty({ url, client });
  return { url, client };
}

async function empty({ client }: TestDatabase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables
      where schemaname = current_schema() and tablename not like 'kysely%' order by tablename = 'operations'`,
  );
  await client.query(rows.map(({ name }) => `delete from ${name};`).join(' '));
}

/** Any engine, with nothing of PostgreSQL written into the folder of the project. */
export const asInTests: typeof openEngine = async (url, options) => {
  const engine = await openEngine(url, options);
  if (url.startsWith('sqlite:')) return engine;
  return { ...engine, besidePath: (ending) => join(tmpdir(), `vps-slack-tests.${ending}`) };
};

/** PostgreSQL with the clock of the test instead of the database's, so that contract tests can move it. */
export const givenTime: typeof openEngine = async (url, options) => ({
  ...(await asInTests(url, options)),
  mayMigrate: false,
  clock: options.system,
  moment: (at) => sql<number>`cast(${at} as bigint)`,
});
