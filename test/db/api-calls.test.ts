import { Kysely } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../src/context.ts';
import type { AccountNames } from '../../src/core/ids.ts';
import { createApiCalls } from '../../src/db/api-calls.ts';
import { openEngine } from '../../src/db/open-store.ts';
import { migrate } from '../../src/db/schema.ts';
import type { Tables } from '../../src/db/tables.ts';
import { realSystem } from '../../src/system.ts';
import { places } from './places.ts';
import { engines, stillSystem, T0, vault } from './support.ts';

const HOLD_MS = 110_000;
const of = (limit: number) => ({ limit, maxHoldMs: HOLD_MS });
const slot = (id: string, account = 'a', workspaceId = '') => ({
  id,
  account: [account] as const,
  workspaceId,
});

describe.each(engines)('API slots on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  describe('slots of the hosting API', () => {
    test('end by their age on the clock of the database, and are removed with the next that are given back', async () => {
      const { apiCalls } = store;
      const now = vi.spyOn(stillSystem, 'now');
      onTestFinished(() => now.mockRestore());
      await apiCalls.take(slot('1'), of(2));
      await apiCalls.take(slot('9', 'b'), of(1));
      now.mockReturnValue(T0 + 60_000);
      await apiCalls.take(slot('2'), of(2));
      now.mockReturnValue(T0 + HOLD_MS - 1);
      expect(await apiCalls.take(slot('3'), of(2))).toBe(false);
      now.mockReturnValue(T0 + HOLD_MS);
      expect([await apiCalls.take(slot('4'), of(2)), await apiCalls.take(slot('5'), of(2))]).toEqual([
        true,
        false,
      ]);
      await apiCalls.release(['unknown'], HOLD_MS);
      expect([await apiCalls.listTaken('a'), await apiCalls.listTaken('b')]).toEqual([['2', '4'], []]);
    });

    test('from before the clock was set back end at once, or when they are old enough, whichever is sooner', async () => {
      const { apiCalls } = store;
      const now = vi.spyOn(stillSystem, 'now');
      onTestFinished(() => now.mockRestore());
      await apiCalls.take(slot('1'), of(1));
      now.mockReturnValue(T0 - HOLD_MS);
      expect(await apiCalls.take(slot('2'), of(1))).toBe(false);
      now.mockReturnValue(T0 - HOLD_MS - 1);
      expect(await apiCalls.take(slot('3'), of(1))).toBe(true);
      await apiCalls.release(['unknown'], HOLD_MS);
      expect(await apiCalls.listTaken('a')).toEqual(['3']);
    });

    test('count for their account and for their workspace', async () => {
      const take = (id: string, account: string, workspaceId: string) =>
        store.apiCalls.take(slot(id, account, workspaceId), of(3));
      for (const id of ['1', '2']) expect(await take(id, 'old', 'T1')).toBe(true);
      // After its key was replaced, the workspace has one slot left; its new key has two for another workspace.
      const more = [['3', 'T1'] as const, ['4', 'T1'] as const, ['5', 'T2'] as const, ['6', 'T2'] as const];
      expect(await Promise.all(more.map(([id, of]) => take(id, 'new', of)))).toEqual([
        true,
        false,
        true,
        true,
      ]);
      expect(await Promise.all([take('7', 'new', 'T3'), take('8', 'old', 'T3')])).toEqual([false, true]);
      expect(await store.apiCalls.listTaken('T1')).toEqual(['1', '2', '3']);
      expect(await store.apiCalls.listTaken('new')).toEqual(['3', '5', '6']);
    });

    test('count for their account by all names of its key', async () => {
      const take = (id: string, account: AccountNames, workspaceId: string) =>
        store.apiCalls.take({ id, account, workspaceId }, of(2));
      expect(await take('1', ['old name'], 'T1')).toBe(true);
      expect(await take('2', ['new name', 'old name'], 'T2')).toBe(true);
      expect(await take('3', ['new name', 'old name'], 'T3')).toBe(false);
      await store.apiCalls.release(['1'], HOLD_MS);
      expect(await take('4', ['new name', 'old name'], 'T3')).toBe(true);
    });

    test('never exceed the limit, whether they are requested together or not', async () => {
      const take = (id: string, account = 'a') => store.apiCalls.take(slot(id, account), of(4));
      const together = await Promise.all(['1', '2', '3', '4', '5', '6'].map((id) => take(id)));
      expect(together.filter(Boolean)).toHaveLength(4);
      expect(await take('7')).toBe(false);
      expect(await take('8', 'b')).toBe(true);
      await store.apiCalls.release(['1'], HOLD_MS);
      expect(await Promise.all([take('9'), take('10'), take('11', 'b')])).toEqual([true, false, true]);
      expect(await store.apiCalls.listTaken('a')).toHaveLength(4);
      // What is given back by the same call makes room for it.
      const more = await Promise.all([
        store.apiCalls.take(slot('12'), of(4), ['9', 'unknown']),
        store.apiCalls.take(slot('13'), of(4)),
      ]);
      expect(more).toEqual([true, false]);
      expect(await store.apiCalls.listTaken('a')).not.toContain('9');
    });
  });

  test('fail and don’t hang after the store was closed', async () => {
    await Promise.all([store.close(), store.close()]);
    await expect(store.ping()).rejects.toThrow();
    await expect(store.apiCalls.take(slot('1'), of(300))).rejects.toThrow();
  });
});

test('a burst of calls to the hosting API is one commit, and so is its end', async () => {
  const engine = await openEngine('sqlite::memory:', { lock: true, system: realSystem });
  const queries: string[] = [];
  const log = ({ query }: { query: { sql: string } }) => void queries.push(query.sql);
  const db = new Kysely<Tables>({ dialect: engine.dialect, log });
  await migrate(db, engine);
  queries.length = 0;
  const apiCalls = createApiCalls({ db, engine, vault, newId: stillSystem.newId });
  const ids = Array.from({ length: 300 }, (_, id) => String(id));
  await Promise.all(ids.map((id) => apiCalls.take(slot(id), of(300))));
  expect(queries.filter((query) => query.startsWith('insert into "api_calls"'))).toHaveLength(1);
  expect(queries.filter((query) => query.includes('"api_calls"'))).toHaveLength(2);
  expect(await apiCalls.listTaken('a')).toHaveLength(300);
  await Promise.all(ids.map((id) => apiCalls.release([id], HOLD_MS)));
  expect(queries.filter((query) => query.startsWith('delete from "api_calls"'))).toHaveLength(1);
  expect(await apiCalls.listTaken('a')).toEqual([]);
  engine.close();
});

test.each(
  places,
)('a slot that a dead process held in $name ends by its age, however often processes start in the meantime', async ({
  make,
}) => {
  const now = vi.spyOn(stillSystem, 'now');
  onTestFinished(() => now.mockRestore());
  const place = await make();
  const takeAt = async (at: number) => {
    now.mockReturnValue(at);
    const store = await place.open();
    const isTaken = await store.apiCalls.take(slot(String(at)), of(1));
    await store.close();
    return isTaken;
  };
  expect(await takeAt(T0)).toBe(true);
  expect([await takeAt(T0 + 50_000), await takeAt(T0 + HOLD_MS - 1)]).toEqual([false, false]);
  expect(await takeAt(T0 + HOLD_MS)).toBe(true);
});
