import { Kysely } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/app/ports.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createApiCalls } from '../../src/store/api-calls.ts';
import { openEngine } from '../../src/store/engine/database.ts';
import { migrate } from '../../src/store/engine/migrate.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { openStore } from '../../src/store/open-store.ts';
import { engines, stillSystem, T0, vault } from './support.ts';

describe.each(engines)('what goes out, on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  describe('reply addresses', () => {
    const url = new Secret('https://hooks.slack.example/commands/T1/1/x');

    test('can be used five times, also when all come at once', async () => {
      await store.replyUrls.store('r', 'T1', url, T0 + 100);
      const uses = await Promise.all(Array.from({ length: 8 }, () => store.replyUrls.use('r', T0)));
      const revealed = uses.map((use) => use?.reveal());
      expect(revealed.filter((use) => use === url.reveal())).toHaveLength(5);
      expect(revealed.filter((use) => use === undefined)).toHaveLength(3);
    });

    test('end by time, and a fresh one under the same id starts anew', async () => {
      await store.replyUrls.store('r', 'T1', url, T0 + 100);
      for (let use = 0; use < 5; use++) await store.replyUrls.use('r', T0);
      await store.replyUrls.store('r', 'T1', new Secret('fresh'), T0 + 200);
      expect((await store.replyUrls.use('r', T0 + 199))?.reveal()).toBe('fresh');
      expect(await store.replyUrls.use('r', T0 + 200)).toBeUndefined();
      await store.replyUrls.removeExpired(T0 + 199);
      expect(await store.replyUrls.use('r', T0)).toBeDefined();
      await store.replyUrls.removeExpired(T0 + 200);
      expect(await store.replyUrls.use('r', T0)).toBeUndefined();
      expect(await store.replyUrls.use('unknown', T0)).toBeUndefined();
    });
  });

  describe('calls of the hosting API', () => {
    test('are remembered by account, in order, until they are forgotten', async () => {
      const { apiCalls } = store;
      await Promise.all([T0 + 2, T0, T0 + 1, T0 + 1].map((at) => apiCalls.add('a', at)));
      await apiCalls.add('b', T0 + 9);
      expect(await apiCalls.listSince('a', T0 + 1)).toEqual([T0 + 1, T0 + 1, T0 + 2]);
      await apiCalls.removeBefore(T0 + 2);
      expect(await apiCalls.listSince('a', 0)).toEqual([T0 + 2]);
      expect(await apiCalls.listSince('b', 0)).toEqual([T0 + 9]);
    });

    test('are there when `add` resolves, one after the other as well as together', async () => {
      for (let call = 0; call < 5; call++) {
        await Promise.all(Array.from({ length: 3 }, () => store.apiCalls.add('a', T0 + call)));
        expect(await store.apiCalls.listSince('a', T0 + call)).toHaveLength(3);
      }
    });
  });

  test('a closed store fails and does not hang', async () => {
    await store.ping();
    await Promise.all([store.close(), store.close()]);
    await expect(store.ping()).rejects.toThrow();
    await expect(store.apiCalls.add('a', T0)).rejects.toThrow();
  });
});

test('a burst of calls of the hosting API is one commit', async () => {
  const engine = openEngine('sqlite::memory:', { lock: true });
  const queries: string[] = [];
  const log = ({ query }: { query: { sql: string } }) => void queries.push(query.sql);
  const db = new Kysely<Tables>({ dialect: engine.dialect, log });
  await migrate(db);
  const apiCalls = createApiCalls({ db, engine, vault, newId: stillSystem.newId });
  await Promise.all(Array.from({ length: 300 }, () => apiCalls.add('a', T0)));
  expect(queries.filter((query) => query.startsWith('insert into "api_calls"'))).toHaveLength(1);
  expect(await apiCalls.listSince('a', T0)).toHaveLength(300);
  engine.close();
});

describe('addresses of databases', () => {
  test.each([
    'postgres://u:hunter2@db/x',
    'postgresql://u:hunter2@db/x',
    'mysql://u:hunter2@db/x',
    'sqlite:',
    'x',
    '',
  ])('"%s" is refused in a sentence that repeats no password', async (databaseUrl) => {
    const opened = openStore({ databaseUrl, vault, system: stillSystem });
    await expect(opened).rejects.toThrow(/^DATABASE_URL.+\.$/);
    await expect(opened).rejects.not.toThrow(/hunter2/);
  });

  test('PostgreSQL is said to come later', () => {
    expect(() => openEngine('postgres://db/x', { lock: true })).toThrow(/not supported yet/);
  });
});
