import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { Kysely } from 'kysely';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { migrate } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import type { Tables } from '../../src/db/tables.ts';
import { realSystem } from '../../src/system.ts';
import { triesOf } from '../attacks/support/tries.ts';
import { entry, makeFolder, markSent, newCreate, open, T0, vault } from './support.ts';

const PASSWORD = 'hunter2';

function bySql(path: string, sql: string, ...parameters: (string | number)[]): void {
  const db = new DatabaseSync(path);
  db.prepare(sql).run(...parameters);
  db.close();
}

/** A server that U1 created and an API key that U1 set, in a file that others can write. */
async function startHeld() {
  const path = join(makeFolder(), 'vps.sqlite');
  const store = await open(`sqlite:${path}`);
  const operation = newCreate('web-1');
  await store.ledger.prepare(operation);
  await markSent(store.ledger, operation.id, T0);
  const settled = { at: T0, serverId: 7, password: new Secret(PASSWORD) };
  const audit = entry({ actorId: 'U1', action: 'create', operationId: operation.id, label: 'web-1' });
  await store.ledger.settle(operation.id, settled, { ...audit, outcome: 'done' });
  await store.apiKeys.put('T1', new Secret('api-key'), 'U1', T0);
  return { path, store, id: operation.id };
}

/** What is in a database: its tables with their columns, and its indexes. */
function readSchema(db: InstanceType<typeof DatabaseSync>) {
  const named = (type: string) =>
    db
      .prepare("select name from sqlite_master where type = ? and name not like 'sqlite_%'")
      .all(type)
      .map((row: unknown) => String(row && typeof row === 'object' && 'name' in row ? row.name : ''));
  const columnsOf = (table: string) =>
    db
      .prepare('select name from pragma_table_info(?)')
      .all(table)
      .map((row: unknown) => String(row && typeof row === 'object' && 'name' in row ? row.name : ''));
  return {
    tables: new Map(named('table').map((table) => [table, columnsOf(table)])),
    indexes: named('index'),
  };
}

/** Drops what the migrations before 0005 don't make. */
async function dropNewer(path: string): Promise<void> {
  const early = join(makeFolder(), 'early.sqlite');
  const engine = openSqlite(early, { lock: true, system: realSystem });
  const earlyDb = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(earlyDb, MIGRATIONS);
  await earlyDb.destroy();
  engine.close();
  const wanted = new DatabaseSync(early);
  const { tables, indexes } = readSchema(wanted);
  wanted.close();
  const db = new DatabaseSync(path);
  const found = readSchema(db);
  for (const index of found.indexes) if (!indexes.includes(index)) db.exec(`drop index "${index}"`);
  for (const [table, columns] of found.tables) {
    const kept = tables.get(table);
    if (!kept) db.exec(`drop table "${table}"`);
    else
      for (const column of columns)
        if (!kept.includes(column)) db.exec(`alter table "${table}" drop column "${column}"`);
  }
  db.close();
}

/** Puts the tables back to what release 0.1.0 had, with a row that it would have sealed. */
async function downgrade(path: string, id: string): Promise<void> {
  const engine = openSqlite(path, { lock: false, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  const place = { row: id, column: 'sealed', workspaceId: 'T1' };
  const sealed = vault.seal(PASSWORD, { ...place, table: 'passwords' });
  await db.updateTable('passwords').set({ sealed }).execute();
  const key = vault.seal('api-key', { ...place, table: 'api_keys', row: 'T1' });
  await db.updateTable('api_keys').set({ sealed: key }).execute();
  await db.destroy();
  engine.close();
  await dropNewer(path);
  bySql(path, "delete from kysely_migration where name >= '0005'");
}

describe('an attacker who can write the database, but has no key', () => {
  const anyForgery = fc.oneof(
    fc.tuple(fc.constantFrom('creator_id', 'label'), fc.stringMatching(/^[A-Z0-9]{2,11}$/)),
    fc.tuple(fc.constant('server_id'), fc.integer({ min: 8, max: 1e9 })),
  );

  test('reads no password by changing whose it is, or which server’s', async () => {
    const { path, store, id } = await startHeld();
    await fc.assert(
      fc.asyncProperty(anyForgery, async ([column, value]) => {
        fc.pre(value !== 'U1');
        bySql(path, `update passwords set ${column} = ?`, value);
        await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
        bySql(path, "update passwords set creator_id = 'U1', label = 'web-1', server_id = 7");
      }),
      { numRuns: triesOf({ short: 20, long: 1000 }) },
    );
    expect((await store.passwords.find(id))?.password.reveal()).toBe(PASSWORD);
  });

  test('can’t let an order for another account through by changing since when a key counts', async () => {
    const { path, store } = await startHeld();
    for (const [column, value] of [
      ['set_at', T0 - 1],
      ['set_by', 'U2'],
    ] as const) {
      bySql(path, `update api_keys set ${column} = ?`, value);
      await expect(store.apiKeys.find('T1')).rejects.toThrow(/was altered/);
      bySql(path, `update api_keys set set_at = ${T0}, set_by = 'U1'`);
    }
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('api-key');
  });

  test('reads no password in the form of the first release', async () => {
    const { path, store, id } = await startHeld();
    const old = vault.seal(PASSWORD, { table: 'passwords', row: id, column: 'sealed', workspaceId: 'T1' });
    bySql(path, "update passwords set sealed = ?, creator_id = 'U2'", old);
    await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
  });

  test('reads no password by putting back the tables of the first release before a start', async () => {
    const { path, store, id } = await startHeld();
    await store.close();
    await downgrade(path, id);
    bySql(path, "update passwords set creator_id = 'U2'");
    bySql(path, "update audit set actor_id = 'U2'");
    const again = await open(`sqlite:${path}`);
    await expect(again.passwords.find(id)).rejects.toThrow(/was altered/);
  });
});

test('what the first release sealed is still there after the update, and bound to its owner', async () => {
  const { path, store, id } = await startHeld();
  await store.close();
  await downgrade(path, id);
  const again = await open(`sqlite:${path}`);
  expect((await again.passwords.find(id))?.password.reveal()).toBe(PASSWORD);
  expect((await again.apiKeys.find('T1'))?.key.reveal()).toBe('api-key');
  expect(await again.audit.verify('T1')).toMatchObject({ ok: true });
  bySql(path, "update passwords set creator_id = 'U2'");
  await expect(again.passwords.find(id)).rejects.toThrow(/was altered/);
});

test('a database of the first release that has no rows yet is updated', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  const engine = openSqlite(path, { lock: true, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(db, MIGRATIONS);
  await db.destroy();
  engine.close();
  const store = await open(`sqlite:${path}`);
  expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 0 });
});
