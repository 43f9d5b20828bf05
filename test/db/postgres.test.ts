import { Kysely, sql } from 'kysely';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { DatabaseUnreachable } from '../../src/core/errors.ts';
import { CommitUnknown, DatabaseUnusable } from '../../src/db/database.ts';
import { openEngine } from '../../src/db/open-store.ts';
import { BUSY, createPool, createPostgresDialect } from '../../src/db/postgres.ts';
import type { Tables } from '../../src/db/tables.ts';
import { realSystem } from '../../src/system.ts';
import { asInTests, createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { queryDatabase } from '../support/query-database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { entry, LIMIT, leaseOperation, makePostgres, newCreate, open, sentBy } from './support.ts';

const HOUR_MS = 3_600_000;

const openHere = (url: string, options: Partial<Parameters<typeof open>[1]> = {}) =>
  open(url, { system: realSystem, openEngine: asInTests, ...options });

/** A process whose clock is wrong. */
const openWithClockOff = (url: string, byMs: number) =>
  openHere(url, { system: { ...realSystem, now: () => realSystem.now() + byMs } });

describe.skipIf(!postgresUrl)('the schema on PostgreSQL', () => {
  test('is made once by processes that start at the same moment', async () => {
    const url = await createEmptyDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openHere(url)));
    for (const [number, store] of stores.entries()) await store.audit.add(entry({ actId: `${number}` }));
    const executed = await queryDatabase(url, 'select name from kysely_migration');
    expect(executed).toHaveLength(1);
    expect(await stores[0]?.audit.verify('T1')).toMatchObject({ ok: true, entries: 4 });
  });

  test('sorts and compares text by its bytes, whatever the locale of the server', async () => {
    const url = await makePostgres();
    const columns = await queryDatabase(
      url,
      `select collation_name as collation from information_schema.columns
        where table_schema = current_schema() and table_name not like 'kysely%' and data_type = 'text'`,
    );
    expect(columns.length).toBeGreaterThan(80);
    expect([...new Set(columns.map(({ collation }) => collation))]).toEqual(['C']);
  });

  test('is not mistaken for that of another app in the same database', async () => {
    const url = await createEmptyDatabase();
    await queryDatabase(
      url,
      'create schema other; create table other.kysely_migration (name text, timestamp text)',
    );
    await openHere(url);
    expect(await queryDatabase(url, 'select name from public.kysely_migration')).not.toEqual([]);
  });

  test('is never created or changed by the command line', async () => {
    const url = await createEmptyDatabase();
    await expect(openHere(url, { lock: false })).rejects.toThrow(
      /^The app has no database at postgres:.+DATABASE_URL/,
    );
    expect(await queryDatabase(url, "select tablename from pg_tables where schemaname = 'public'")).toEqual(
      [],
    );
    await (await openHere(url)).close();
    await queryDatabase(url, 'delete from kysely_migration');
    await expect(openHere(url, { lock: false })).rejects.toThrow(/last used by an older version of the app/);
  });
});

describe.skipIf(!postgresUrl)('a database that could lose or garble what is stored', () => {
  const refusalOf = (url: string) =>
    openHere(url).then(
      () => 'opened',
      (error: unknown) => (error instanceof DatabaseUnusable ? error.message : String(error)),
    );

  test('is refused when it is a replica', async () => {
    const url = await createEmptyDatabase();
    const name = new URL(url).pathname.slice(1);
    await queryDatabase(url, `alter database "${name}" set default_transaction_read_only = on`);
    expect(await refusalOf(url)).toMatch(/read-only.+Name the primary\.$/);
  });

  test('is refused when it is not in UTF-8', async () => {
    const url = await createEmptyDatabase("encoding 'SQL_ASCII' locale 'C' template template0");
    expect(await refusalOf(url)).toMatch(/SQL_ASCII.+UTF8\.$/);
  });

  test('is refused in a sentence without the password when it does not answer, or does not exist', async () => {
    expect(await refusalOf('postgres://u:hunter2@127.0.0.1:1/x')).toMatch(
      /^The database postgres:\/\/127.+ECONNREFUSED/,
    );
    const url = new URL(postgresUrl ?? '');
    url.pathname = '/vps_not_there';
    url.password = 'hunter2';
    expect(await refusalOf(url.href)).toMatch(/"vps_not_there" does not exist\.$/);
    expect(await refusalOf(url.href)).not.toContain('hunter2');
  });

  test('commits durably in each session, even where the database is set to do less', async () => {
    const url = await createEmptyDatabase();
    const name = new URL(url).pathname.slice(1);
    await queryDatabase(url, `alter database "${name}" set synchronous_commit = off`);
    const engine = await openEngine(url, { lock: true, system: realSystem });
    const db = new Kysely<Tables>({ dialect: engine.dialect });
    onTestFinished(() => db.destroy().then(() => engine.close()));
    const settings = ['synchronous_commit', 'statement_timeout', 'lock_timeout'];
    const values = settings.map(async (setting) => {
      const { rows } = await sql<{ value: string }>`select current_setting(${setting}) as value`.execute(db);
      return rows[0]?.value;
    });
    expect(await Promise.all(values)).toEqual(['on', '10s', '5s']);
  });
});

describe.skipIf(!postgresUrl)('what is stored on PostgreSQL', () => {
  test('may hold any character: the one that the database can’t store is replaced', async () => {
    const store = await openHere(await makePostgres());
    await store.workspaces.put({ id: 'T1', name: 'A\0me 🚀' });
    expect(await store.workspaces.find('T1')).toMatchObject({ name: 'A\uFFFDme 🚀' });
    await store.ledger.prepare(newCreate('a\0b'));
  });

  test('is never read as another number', async () => {
    const url = await makePostgres();
    const store = await openHere(url);
    await store.workspaces.put({ id: 'T1', name: 'Acme' });
    const { id } = newCreate();
    await store.ledger.prepare(newCreate('web-1', { id }));
    await queryDatabase(url, `update operations set price = 9007199254740993 where id = '${id}'`);
    await expect(store.ledger.find(id)).rejects.toThrow(/too large/);
  });
});

describe.skipIf(!postgresUrl)('the clock of processes on PostgreSQL', () => {
  const openBoth = async () => {
    const url = await makePostgres();
    return { slow: await openWithClockOff(url, -HOUR_MS), fast: await openWithClockOff(url, HOUR_MS) };
  };

  test('is the database’s, however wrong their own is', async () => {
    const { slow, fast } = await openBoth();
    expect(Math.abs(slow.clock.now() - fast.clock.now())).toBeLessThan(1000);
    expect(Math.abs(slow.clock.now() - realSystem.now())).toBeLessThan(1000);
  });

  test('lets no process take what another one holds, and frees it when its time is over', async () => {
    const { slow, fast } = await openBoth();
    const wrong = realSystem.now() + HOUR_MS;
    const operation = newCreate('web-1', { at: realSystem.now() });
    await slow.ledger.prepare(operation);
    const lease = (owner: string, now: number, ms: number) => ({ owner, now, until: now + ms });
    expect(await leaseOperation(slow, operation.id, lease('slow', wrong - 2 * HOUR_MS, 60_000))).toBe(true);
    expect(await leaseOperation(fast, operation.id, lease('fast', wrong, 60_000))).toBe(false);
    expect(await fast.jobStore.leaseDue('fast', ['operation'], 9)).toEqual([]);
    expect(await slow.ledger.markSent(operation.id, sentBy('slow', wrong - 2 * HOUR_MS))).toBe('sent');
    expect(await leaseOperation(slow, operation.id, lease('slow', wrong, 50))).toBe(true);
    await expect.poll(() => leaseOperation(fast, operation.id, lease('fast', wrong, 60_000))).toBe(true);
  });

  test('ends the slots of the rate limit that a dead process held, and no others', async () => {
    const { slow, fast } = await openBoth();
    const take = (store: Store, id: string, maxHoldMs: number) =>
      store.apiCalls.take({ id, account: ['a'], workspaceId: 'T1' }, { limit: 1, maxHoldMs });
    expect(await take(slow, '1', 60_000)).toBe(true);
    expect([await take(fast, '2', 60_000), await take(slow, '3', 60_000)]).toEqual([false, false]);
    await expect.poll(() => take(fast, '4', 50)).toBe(true);
    expect([await take(slow, '5', 60_000), await take(fast, '6', 60_000)]).toEqual([false, false]);
    await expect.poll(() => take(slow, '7', 50)).toBe(true);
  });

  test('refuses an order whose send-by time has passed there, whatever the process believes', async () => {
    const { slow } = await openBoth();
    const operation = newCreate('web-1', { at: realSystem.now() - 5 * 60_000 });
    await slow.ledger.prepare(operation);
    const now = operation.at;
    await leaseOperation(slow, operation.id, { owner: 'slow', now, until: now + 60_000 });
    expect(await slow.ledger.markSent(operation.id, sentBy('slow', now))).toBe('refused');
  });

  test('leaves what a living process holds alone when another one starts', async () => {
    const url = await makePostgres();
    const first = await openHere(url);
    await first.jobStore.add({ kind: 'operation', key: 'O1', workspaceId: 'T1', dueAt: 0 });
    const now = realSystem.now();
    const lease = (owner: string) => ({ owner, now, until: now + 60_000 });
    expect(await first.jobStore.lease('operation', 'O1', lease('first'))).toBeDefined();
    const second = await openHere(url);
    expect(await second.jobStore.lease('operation', 'O1', lease('second'))).toBeUndefined();
  });
});

test.skipIf(!postgresUrl)('a COMMIT that PostgreSQL answers with ROLLBACK is no commit', async () => {
  const db = new Kysely<object>({ dialect: createPostgresDialect(createPool(await makePostgres(), BUSY)) });
  onTestFinished(() => db.destroy());
  const committed = db.transaction().execute(async (trx) => {
    await sql`select 1 / 0`.execute(trx).catch(() => undefined);
    return 'committed';
  });
  await expect(committed).rejects.toThrow('rolled back');
});

test.skipIf(!postgresUrl)(
  'a statement that fits its table no longer is prepared again, on a new connection',
  async () => {
    const pool = createPool(await makePostgres(), BUSY);
    pool.options.max = 1;
    const db = new Kysely<object>({ dialect: createPostgresDialect(pool) });
    onTestFinished(() => db.destroy());
    const read = async () => (await sql`select * from changing where id = ${1}`.execute(db)).rows;
    await sql`create table changing as select 1 as id`.execute(db);
    expect(await read()).toEqual([{ id: 1 }]);
    await sql`alter table changing add column more int`.execute(db);
    await expect(read()).rejects.toThrow(DatabaseUnreachable);
    expect(await read()).toEqual([{ id: 1, more: null }]);
  },
);

describe.skipIf(!postgresUrl)('when the connection to PostgreSQL is lost', () => {
  let proxy: TcpProxy;
  let store: Store;
  let laterMs = 0;
  const system = { ...realSystem, elapsed: () => realSystem.elapsed() + laterMs };
  beforeEach(async () => {
    proxy = await startTcpProxy(await makePostgres());
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    store = await open(proxy.url, { system, openEngine: asInTests });
  });

  /** Connections beside the store's. */
  const connect = (patience: Parameters<typeof createPool>[1]) => {
    const pool = createPool(proxy.url, patience);
    const db = new Kysely<object>({ dialect: createPostgresDialect(pool) });
    onTestFinished(() => db.destroy());
    return { pool, db };
  };
  const now = () => realSystem.now();
  /** A confirmed order whose lease `owner` has. */
  const prepared = async () => {
    const operation = newCreate('web-1', { at: now() });
    await store.ledger.prepare(operation);
    await leaseOperation(store, operation.id, { owner: 'owner', now: now(), until: now() + 60_000 });
    return operation.id;
  };
  const markSent = (id: string) => store.ledger.markSent(id, sentBy('owner', now()));

  test('what was under way fails, the store says so, and recovers by itself', async () => {
    await store.ping();
    const writing = Promise.allSettled(Array.from({ length: 30 }, () => store.audit.add(entry())));
    await realSystem.sleep(20);
    proxy.cut();
    const outcomes = await writing;
    const written = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(written).toBeLessThan(30);
    // What `ping` has seen counts for a second.
    laterMs += 1000;
    await expect(store.ping()).rejects.toThrow();
    await expect(store.ledger.prepare(newCreate())).rejects.toThrow(DatabaseUnreachable);
    await expect(store.ledger.find('1')).rejects.toThrow(DatabaseUnreachable);
    proxy.mend();
    laterMs += 1000;
    await expect.poll(() => store.ping().then(() => 'answers')).toBe('answers');
    // Everything that was reported as written is there, and the chain is whole.
    const { entries } = (await store.audit.verify('T1')) as { entries: number };
    expect(entries).toBeGreaterThanOrEqual(written);
    await store.audit.add(entry());
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
  });

  test.each([
    ['after', 'sent'],
    ['before', 'prepared'],
  ] as const)('while an order is marked as sent, %s the commit: it is not sent, and its owner ends it', async (loss, state) => {
    const id = await prepared();
    proxy.loseNextCommit(loss);
    await expect(markSent(id)).rejects.toThrow(CommitUnknown);
    expect(await store.ledger.find(id)).toMatchObject({ state });
    const refused = { at: now(), reason: LIMIT, owner: 'owner' };
    if (loss === 'after')
      expect(await store.ledger.refuse(id, { ...refused, owner: 'other' }, entry())).toBe(false);
    expect(await store.ledger.refuse(id, refused, entry())).toBe(true);
    expect(await markSent(id)).toBe('refused');
  });

  test('while a confirmation is stored: it is an error, and the same confirmation again is known or new', async () => {
    for (const [loss, kind] of [
      ['before', 'new'],
      ['after', 'known'],
    ] as const) {
      const operation = newCreate('web-1', { at: now() });
      proxy.loseNextCommit(loss);
      await expect(store.ledger.prepare(operation)).rejects.toThrow(CommitUnknown);
      expect(await store.ledger.prepare(operation)).toMatchObject({ kind });
    }
  });

  test('a database that stops answering is given up, and its connection is not used again', async () => {
    const { pool, db } = connect({ statementMs: 0, lockMs: 0, idleMs: 0, answerMs: 300 });
    await sql`select 1`.execute(db);
    expect(pool.idleCount).toBe(1);
    proxy.freeze();
    const waiting = db.transaction().execute((trx) => sql`select 1`.execute(trx));
    await expect(waiting).rejects.toThrow(DatabaseUnreachable);
    await expect(waiting).rejects.toThrow(/timeout/);
    expect(pool.totalCount).toBe(0);
  });

  test('a statement that the database refuses says nothing about the connection, nor does a value that can’t be read', async () => {
    const { db } = connect(BUSY);
    for (const statement of [sql`select 1 / 0`, sql`select missing`, sql`select 9007199254740993 as big`])
      await expect(statement.execute(db)).rejects.not.toThrow(DatabaseUnreachable);
    await db.destroy();
  });

  test('by a restart of the database, whose goodbye is heard: the app recovers by itself', async () => {
    await store.audit.add(entry());
    const writing = Promise.allSettled(Array.from({ length: 30 }, () => store.audit.add(entry())));
    await realSystem.sleep(20);
    const administrator = new Client(proxy.url);
    await administrator.connect();
    await administrator.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'vps-slack'`,
    );
    await administrator.end();
    await writing;
    await expect.poll(() => store.ping().then(() => 'answers')).toBe('answers');
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
  });

  test('a process that froze in the middle of a transaction holds nobody up for long', async () => {
    const { db: frozen } = connect({ statementMs: 0, lockMs: 0, idleMs: 200, answerMs: 0 });
    const id = await prepared();
    const thawed = frozen.transaction().execute(async (trx) => {
      await sql`update operations set price = 1 where id = ${id}`.execute(trx);
      await realSystem.sleep(600);
      await sql`update operations set price = 2 where id = ${id}`.execute(trx);
    });
    const failed = expect(thawed).rejects.toThrow();
    await realSystem.sleep(50);
    expect(await markSent(id)).toBe('sent');
    await failed;
    expect(await store.ledger.find(id)).toMatchObject({ price: 499 });
  });
});

/** A database that allows so many connections to users other than superusers, and the address of such a user. */
async function createLimited(connections: number) {
  const url = await createEmptyDatabase();
  const name = new URL(url).pathname.slice(1);
  const owner = new Client(url);
  await owner.connect();
  onTestFinished(() => owner.end());
  const role = `vps_share_${name.replace(/\W/g, '')}`;
  await owner.query(`create role ${role} login password 'test'`);
  onTestFinished(async () => {
    await owner.query(`drop owned by ${role}; drop role ${role}`);
  });
  await owner.query(`grant all on schema public to ${role}`);
  await owner.query(`alter role ${role} connection limit ${connections}`);
  const limited = new URL(url);
  limited.username = role;
  limited.password = 'test';
  const count = async () => {
    const { rows } = await owner.query('select 1 from pg_stat_activity where usename = $1', [role]);
    return rows.length;
  };
  return { url: limited.href, count };
}

const openAmong = (url: string, maxProcesses: number) =>
  open(url, { system: realSystem, openEngine: asInTests, maxProcesses });

describe.skipIf(!postgresUrl)('MAX_PROCESSES', () => {
  test('gives each process its share of the connections, however much it has to do', async () => {
    const { url, count } = await createLimited(8);
    const stores = [await openAmong(url, 3), await openAmong(url, 3), await openAmong(url, 3)];
    const work = stores.flatMap(({ apiCalls }) => Array.from({ length: 50 }, () => apiCalls.listTaken('a')));
    // One more would be refused by the server.
    expect((await Promise.all(work)).flat()).toEqual([]);
    expect(await count()).toBeGreaterThan(3);
  });

  test('refuses to start where fewer than two connections are left for each', async () => {
    const { url } = await createLimited(8);
    await expect(openAmong(url, 5)).rejects.toThrow(
      'The database allows 8 connections, too few for 5 processes (MAX_PROCESSES): each needs 2.',
    );
  });
});
