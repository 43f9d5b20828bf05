import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Kysely, sql } from 'kysely';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Engine } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import type { Tables } from '../../src/db/tables.ts';
import { realSystem } from '../../src/system.ts';
import { makeFolder } from './support.ts';

let path: string;
let engine: Engine;
let db: Kysely<Tables>;
beforeEach(async () => {
  path = join(makeFolder(), 'vps.sqlite');
  engine = openSqlite(path, { lock: true, system: realSystem });
  db = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(db, engine);
});

const add = (queries: Kysely<Tables>, id: string, name = 'x') =>
  queries.insertInto('workspaces').values({ id, name, settings: '{}' }).execute();
const count = async () => (await db.selectFrom('workspaces').select('id').execute()).length;

test('transactions take the write lock at the start, so that none fails halfway on a locked database', async () => {
  const other = new DatabaseSync(path, { timeout: 0 });
  onTestFinished(() => other.close());
  await db.transaction().execute(async (trx) => {
    expect(() => other.exec('begin immediate')).toThrow(/locked/);
    await add(trx, 'T1');
  });
  other.exec('begin immediate');
  other.exec('commit');
  expect(await count()).toBe(1);
});

test('transactions that are started together run one after the other', async () => {
  const addTwo = (id: string) =>
    db.transaction().execute(async (trx) => {
      await add(trx, `${id}-1`);
      await new Promise((resolve) => setImmediate(resolve));
      await add(trx, `${id}-2`);
      if (id === 'b') throw new Error('not this one');
    });
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(addTwo));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await count()).toBe(4);
});

test('a full disk is reported as such, undoes the transaction, and writing works when there is space again', async () => {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
  await sql.raw(`pragma max_page_count = ${(rows[0]?.page_count ?? 0) + 1}`).execute(db);
  const writeMuch = () =>
    db.transaction().execute(async (trx) => {
      await add(trx, 'T1');
      await add(trx, 'T2', 'much'.repeat(50_000));
    });
  await expect(writeMuch()).rejects.toThrow(/disk is full/);
  await sql`pragma max_page_count = 100000`.execute(db);
  expect(await count()).toBe(0);
  await writeMuch();
  expect(await count()).toBe(2);
});
