import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Kysely, sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { DatabaseInUse, DatabaseUnusable } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import type { Tables } from '../../src/db/tables.ts';
import { realSystem } from '../../src/system.ts';
import { bySql, makeFolder, open } from './support.ts';

let path: string;
let url: string;
beforeEach(() => {
  path = join(makeFolder(), 'data', 'deep', 'vps.sqlite');
  url = `sqlite:${path}`;
});

describe('the database file', () => {
  test('and its folder are readable only by their owner, like all files beside it', async () => {
    const store = await open(url);
    await store.workspaces.put({ id: 'T1', name: 'Acme' });
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
    }
  });

  test('loses no commit in a power failure: WAL with full synchronization, foreign keys on', async () => {
    const engine = openSqlite((await open(url)) && path, { lock: false, system: realSystem });
    const db = new Kysely<Tables>({ dialect: engine.dialect });
    const read = async (pragma: string) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${pragma}`).execute(db);
      return Object.values(rows[0] ?? {})[0];
    };
    const pragmas = ['journal_mode', 'synchronous', 'foreign_keys', 'secure_delete', 'busy_timeout'];
    expect(await Promise.all(pragmas.map(read))).toEqual(['wal', 2, 1, 1, 30_000]);
    await engine.scrub(db);
    expect(await read('busy_timeout')).toBe(30_000);
    await db.destroy();
    engine.close();
  });

  test('is refused in a sentence if it is something else, and left alone', async () => {
    const file = join(makeFolder(), 'notes.txt');
    writeFileSync(file, 'these are my notes and not a database at all\n'.repeat(50));
    const size = statSync(file).size;
    await expect(open(`sqlite:${file}`)).rejects.toThrow(DatabaseUnusable);
    await expect(open(`sqlite:${file}`)).rejects.toThrow(/can't be opened: .+\.$/);
    expect(statSync(file).size).toBe(size);
  });
});

describe('opening it twice', () => {
  test('is refused in a sentence, and works after the first was closed', async () => {
    const first = await open(url);
    const refusal = await open(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DatabaseInUse);
    expect(String(refusal)).toMatch(/is in use by another process of this app\. .+\.$/);
    await first.close();
    await open(url);
  });

  test('gets no folder for paid answers from the command line, which may run as a user whose files the app can’t write', async () => {
    await (await open(url)).close();
    rmSync(`${path}.spill`, { recursive: true });
    await open(url, { lock: false });
    expect(existsSync(`${path}.spill`)).toBe(false);
    await open(url);
    expect(existsSync(join(`${path}.spill`, 'reserve'))).toBe(true);
  });

  test('is refused to the command line if the app hasn’t created it, and nothing is created', async () => {
    await expect(open(url, { lock: false })).rejects.toThrow(/^The app has no database at .+DATABASE_URL/);
    expect(existsSync(join(path, '..'))).toBe(false);
    await expect(open('sqlite::memory:', { lock: false })).rejects.toThrow(DatabaseUnusable);
  });

  test('makes the command line leave the tables alone while an older app is running', async () => {
    await (await open(url)).close();
    await bySql(path, (db) => db.exec('delete from kysely_migration'));
    const holder = new DatabaseSync(`${path}.lock`);
    holder.exec('begin exclusive');
    await expect(open(url, { lock: false })).rejects.toThrow(/last used by an older version of the app/);
    holder.close();
  });
});

describe('migrations', () => {
  const newer = "insert into kysely_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')";

  test('refuse a database of a newer version in a sentence, don’t touch it, and release it', async () => {
    await (await open(url)).close();
    await bySql(path, (db) => db.exec(newer));
    for (const lock of [true, false]) {
      await expect(open(url, { lock })).rejects.toThrow(DatabaseUnusable);
      await expect(open(url, { lock })).rejects.toThrow(/newer version of the app.+9999-from-the-future/);
    }
    await bySql(path, (db) => db.exec("delete from kysely_migration where name like '9999%'"));
    await open(url);
  });

  test('refuse a database of an earlier version in a sentence and don’t touch it', async () => {
    await (await open(url)).close();
    await bySql(path, (db) => db.exec("update kysely_migration set name = '0001-first-tables'"));
    for (const lock of [true, false])
      await expect(open(url, { lock })).rejects.toThrow(/an earlier version of the app, .+ empty database/);
  });

  test('leave nothing behind when they are interrupted, and can be run again', async () => {
    const engine = openSqlite(':memory:', { lock: true, system: realSystem });
    const db = new Kysely<Tables>({ dialect: engine.dialect });
    let isBroken = true;
    const migrations = {
      '0002-another': {
        up: async (schema: Kysely<unknown>) => {
          await schema.schema.createTable('another').addColumn('id', 'text').execute();
          if (isBroken) throw new Error('the power went');
        },
      },
    };
    const listTables = async () => (await db.introspection.getTables()).map(({ name }) => name);
    await expect(migrate(db, engine, migrations)).rejects.toThrow(
      /could not be updated .+: the power went\.$/,
    );
    expect(await listTables()).toEqual([]);
    isBroken = false;
    await migrate(db, engine, migrations);
    await migrate(db, engine, migrations);
    expect(await listTables()).toContain('another');
    engine.close();
  });
});
