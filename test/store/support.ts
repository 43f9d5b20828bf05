import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Store } from '../../src/app/ports.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { System } from '../../src/system.ts';
import { stillSystem, vault } from './fixtures.ts';

export {
  confirm,
  entry,
  markSent,
  markTold,
  newApproval,
  newCreate,
  newDelete,
  newGrant,
  newRenew,
  stillSystem,
  T0,
  vault,
} from './fixtures.ts';

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** Makes a folder that is removed after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-test-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store that is closed after the test. */
export async function open(
  databaseUrl: string,
  options: { lock?: boolean; system?: System } = {},
): Promise<Store> {
  const store = await openStore({ databaseUrl, vault, system: stillSystem, ...options });
  undo.push(() => store.close());
  return store;
}

/** The engines that every store contract is tested on. A new engine is one more line here. */
export const engines: readonly { name: string; make: () => Promise<Store> }[] = [
  { name: 'SQLite in memory', make: () => open('sqlite::memory:') },
  { name: 'SQLite in a file', make: () => open(`sqlite:${join(makeFolder(), 'vps.sqlite')}`) },
];

/** Reads all files of a folder into one buffer. */
export function readBytes(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}
