import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { listMissingPrograms, startPostgres } from './own-postgres.ts';
import { queryDatabase } from './query-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that tests make their databases on, and what the names of those begin with. */
    readonly postgres: { readonly url: string; readonly prefix: string } | undefined;
  }
}

/** A server to use instead of an own one: `postgres://user@host:5432/database`. Its user has to be able to create databases. */
const named = process.env.TEST_POSTGRES_URL;

/** Starts a PostgreSQL server for the tests. Where it isn't installed, its tests are left out, but never where `CI` is set. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const prefix = `vps_test_${Date.now()}_${process.pid}_`;
  if (named) {
    provide('postgres', { url: named, prefix });
    return () => dropDatabases(named, prefix);
  }
  const missing = listMissingPrograms();
  if (missing.length > 0) {
    const fault = `PostgreSQL is not installed (${missing.join(', ')}), and TEST_POSTGRES_URL names no server`;
    if (process.env.CI === 'true') throw new Error(`The tests need PostgreSQL: ${fault}`);
    process.stderr.write(`No tests on PostgreSQL: ${fault}\n`);
    provide('postgres', undefined);
    return async () => undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-postgres-'));
  const server = await startPostgres(folder);
  provide('postgres', { url: server.url, prefix });
  return async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const made = `select datname from pg_database where starts_with(datname, '${prefix}')`;
  for (const { datname } of await queryDatabase(url, made))
    await queryDatabase(url, `drop database if exists "${datname}" with (force)`);
}
