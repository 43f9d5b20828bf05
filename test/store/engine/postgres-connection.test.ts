import { Kysely, sql } from 'kysely';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { DatabaseUnreachable } from '../../../src/core/errors.ts';
import { CommitUnknown } from '../../../src/db/engine.ts';
import { BUSY, createPool, createPostgresDialect } from '../../../src/db/postgres-driver.ts';
import { realSystem } from '../../../src/system.ts';
import { asInTests, postgresUrl } from '../../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { entry, makePostgres, newCreate, open, sentBy } from '../support.ts';

test.skipIf(!postgresUrl)('a COMMIT that PostgreSQL answers with ROLLBACK is no commit', async () => {
  const db = new Kysely<object>({ dialect: createPostgresDialect(createPool(await makePostgres(), BUSY)) });
  onTestFinished(() => db.destroy());
  const committed = db.transaction().execute(async (trx) => {
    await sql`select 1 / 0`.execute(trx).catch(() => undefined);
    return 'committed';
  });
  await expect(committed).rejects.toThrow('rolled back');
});

describe.skipIf(!postgresUrl)('when the connection to PostgreSQL is lost', () => {
  let proxy: TcpProxy;
  let store: Store;
  beforeEach(async () => {
    proxy = await startTcpProxy(await makePostgres());
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    store = await open(proxy.url, { system: realSystem, openEngine: asInTests });
  });

  const now = () => realSystem.now();
  /** A confirmed order whose lease `owner` has. */
  const prepared = async () => {
    const operation = newCreate('web-1', { at: now() });
    await store.ledger.prepare(operation);
    await store.ledger.lease(operation.id, { owner: 'owner', now: now(), until: now() + 60_000 });
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
    await realSystem.sleep(1000);
    await expect(store.ping()).rejects.toThrow();
    await expect(store.ledger.prepare(newCreate())).rejects.toThrow(DatabaseUnreachable);
    await expect(store.ledger.find('1')).rejects.toThrow(DatabaseUnreachable);
    proxy.mend();
    await expect.poll(() => store.ping().then(() => 'answers')).toBe('answers');
    // Everything that was reported as written is there, and the chain is whole.
    const { entries } = (await store.audit.verify('T1')) as { entries: number };
    expect(entries).toBeGreaterThanOrEqual(written);
    await store.audit.add(entry());
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
  });

  test('while an order is marked as sent, before the commit: it is not sent, and stays confirmed', async () => {
    const id = await prepared();
    proxy.loseNextCommit('before');
    await expect(markSent(id)).rejects.toThrow(CommitUnknown);
    expect(await store.ledger.find(id)).toMatchObject({ state: 'prepared' });
    expect(await markSent(id)).toBe('sent');
  });

  test('while an order is marked as sent, after the commit: it is read back by its attempt, and sent once', async () => {
    const id = await prepared();
    proxy.loseNextCommit('after');
    expect(await markSent(id)).toBe('sent');
    expect(await store.ledger.find(id)).toMatchObject({ state: 'sent' });
  });

  test('while the database restarts after the commit: it is read back when the database is there again', async () => {
    const id = await prepared();
    proxy.loseNextCommit('after, and it stays away');
    const marking = markSent(id);
    await realSystem.sleep(800);
    await expect(store.ledger.find(id)).rejects.toThrow();
    proxy.mend();
    expect(await marking).toBe('sent');
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
    const patience = { statementMs: 0, lockMs: 0, idleMs: 0, answerMs: 300 };
    const pool = createPool(proxy.url, patience);
    const db = new Kysely<object>({ dialect: createPostgresDialect(pool) });
    onTestFinished(() => db.destroy());
    await sql`select 1`.execute(db);
    expect(pool.idleCount).toBe(1);
    proxy.freeze();
    const waiting = db.transaction().execute((trx) => sql`select 1`.execute(trx));
    await expect(waiting).rejects.toThrow(DatabaseUnreachable);
    await expect(waiting).rejects.toThrow(/timeout/);
    expect(pool.totalCount).toBe(0);
  });

  test('a statement that the database refuses says nothing about the connection, nor does a value that can’t be read', async () => {
    const pool = createPool(proxy.url, BUSY);
    const db = new Kysely<object>({ dialect: createPostgresDialect(pool) });
    onTestFinished(() => db.destroy());
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
    const patience = { statementMs: 0, lockMs: 0, idleMs: 200, answerMs: 0 };
    const frozen = new Kysely<object>({ dialect: createPostgresDialect(createPool(proxy.url, patience)) });
    onTestFinished(() => frozen.destroy());
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
