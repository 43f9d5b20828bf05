import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { onTestFinished } from 'vitest';
import type { Store } from '../../src/context.ts';
import { openStore } from '../../src/db/open-store.ts';
import { givenTime, lendDatabase, postgresUrl } from '../support/postgres.ts';
import { stillSystem, vault } from './fixtures.ts';

export * from './fixtures.ts';

/** Makes a folder that is removed after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store that is closed after the test. */
export async function open(
  databaseUrl: string,
  options: Partial<Parameters<typeof openStore>[0]> = {},
): Promise<Store> {
  const store = await openStore({ databaseUrl, vault, system: stillSystem, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Makes the address of an empty database of PostgreSQL, for the time of the test. */
export async function makePostgres(): Promise<string> {
  const { url, giveBack } = await lendDatabase();
  onTestFinished(giveBack);
  return url;
}

/** Stores on empty databases of PostgreSQL. They stay open: emptying a database takes milliseconds, opening it half a second. */
const freeStores: Awaited<ReturnType<typeof openPostgres>>[] = [];

async function lendStore(): Promise<Store> {
  const lent = freeStores.pop() ?? (await openPostgres());
  let isClosed = false;
  onTestFinished(async () => {
    if (isClosed) return lent.giveBack();
    await lent.empty();
    freeStores.push(lent);
  });
  const close = () => {
    isClosed = true;
    return lent.store.close();
  };
  return { ...lent.store, close };
}

async function openPostgres() {
  const database = await lendDatabase();
  const databaseUrl = database.url;
  const store = await openStore({ databaseUrl, vault, system: stillSystem, openEngine: givenTime });
  return { ...database, store };
}

/** The engines that every store contract is tested on; without a server (`test/support/postgres-setup.ts` says so), one. */
export const engines = [
  { name: 'SQLite', make: () => open(`sqlite:${join(makeFolder(), 'vps.sqlite')}`) },
  ...(postgresUrl ? [{ name: 'PostgreSQL', make: lendStore }] : []),
];

/** Works on a file of SQLite behind the store's back. */
export async function bySql<Result>(
  path: string,
  work: (db: DatabaseSyncInstance) => Result,
): Promise<Result> {
  const db = new DatabaseSync(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Reads all files of a folder into one buffer. */
export function readBytes(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}
