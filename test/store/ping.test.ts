import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { openStore } from '../../src/db/open-store.ts';
import { entry, makeFolder, open, stillSystem, vault } from './support.ts';

/** The clock moves, so that each ping is one of its own. */
function movingSystem() {
  let elapsed = 0;
  return {
    ...stillSystem,
    elapsed: () => {
      elapsed += 10_000;
      return elapsed;
    },
  };
}

test('a database that takes no write is not ready', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  const store = await open(`sqlite:${path}`, { system: movingSystem() });
  await store.ping();
  // As a full disk does: reading goes on, writing fails.
  const other = new DatabaseSync(path);
  other.exec("create trigger full before update on facts begin select raise(abort, 'disk is full'); end");
  await expect(store.ping()).rejects.toThrow('disk is full');
  other.exec('drop trigger full');
  other.close();
  await store.ping();
});

test('a database whose file was damaged is not ready', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  const first = await open(`sqlite:${path}`);
  for (let one = 0; one < 200; one++) await first.audit.add(entry({ label: 'x'.repeat(500) }));
  await first.close();
  const pages = Buffer.alloc(64 * 4096, 0xa5);
  writeFileSync(path, pages, { flag: 'r+' });
  const store = await openStore({ databaseUrl: `sqlite:${path}`, vault, system: stillSystem }).catch(
    () => undefined,
  );
  // It may not even open.
  if (store) await expect(store.ping()).rejects.toThrow();
  await store?.close().catch(() => undefined);
});

test('/readyz writes at most once a second', async () => {
  const store = await open('sqlite::memory:');
  const pings = Array.from({ length: 100 }, () => store.ping());
  expect(new Set(pings).size).toBe(1);
  await Promise.all(pings);
});
