import { Client } from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that tests make their databases on, and what the names of those begin with. */
    readonly postgres: { readonly url: string; readonly prefix: string } | undefined;
  }
}

/** Another server: `TEST_POSTGRES_URL=postgres://user@host:5432/database`. Its user has to be able to create databases. */
const URL_OF_TESTS = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';
/** Databases of a run that was killed are dropped by a later one. */
const LEFT_OVER_MS = 3_600_000;

/** Looks for a PostgreSQL server. Without one its tests are left out, but never where `CI` is set. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const prefix = `vps_test_${Date.now()}_${process.pid}_`;
  const fault = await administer(dropLeftOver).then(
    () => undefined,
    (error: Error) => error.message || 'it does not answer',
  );
  if (fault !== undefined && process.env.CI === 'true')
    throw new Error(`the tests need PostgreSQL, which can't be used: ${fault}`);
  if (fault !== undefined)
    process.stderr.write(`No tests on PostgreSQL: ${fault} (TEST_POSTGRES_URL names a server)\n`);
  provide('postgres', fault === undefined ? { url: URL_OF_TESTS, prefix } : undefined);
  return async () => {
    if (fault === undefined) await administer((client) => drop(client, (name) => name.startsWith(prefix)));
  };
}

async function administer(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: URL_OF_TESTS, connectionTimeoutMillis: 3000 });
  await client.connect();
  await work(client).finally(() => client.end());
}

async function dropLeftOver(client: Client): Promise<void> {
  await drop(client, (name) => Number(name.split('_')[2]) < Date.now() - LEFT_OVER_MS);
}

async function drop(client: Client, isWanted: (name: string) => boolean): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    `select datname from pg_database where datname like 'vps\\_test\\_%'`,
  );
  for (const { datname } of rows)
    if (isWanted(datname)) await client.query(`drop database if exists "${datname}" with (force)`);
}
