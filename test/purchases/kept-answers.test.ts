import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Store } from '../../src/context.ts';
import { HostingError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { OPERATION } from '../../src/purchases/operation.ts';
import { endFailedPayment } from '../../src/purchases/pay.ts';
import { settleUntilStored } from '../../src/purchases/send.ts';
import { readSpilled, storeSpilled } from '../../src/purchases/spill.ts';
import {
  bySql,
  entry,
  makeFolder,
  markSent,
  newCreate,
  open,
  readBytes,
  stillSystem,
  T0,
} from '../db/support.ts';
import { makeContext } from '../support/context.ts';
import { makeKey } from '../support/environment.ts';
import { until } from '../support/eventually.ts';
import { never, openWatched, type Watch } from '../support/statements.ts';
import { triesOf } from '../support/tries.ts';

const PASSWORD = 'hunter2-canary';
const PAID = { serverId: 7, password: new Secret(PASSWORD) };
/** Settled from a list, without the API's own answer. */
const FOUND = { at: T0, serverId: 7 };
const UNCLEAR = new HostingError('unreadable_answer', 'maybe', {}, new Secret(`{"pw":"${PASSWORD}"}`));
const system = { ...stillSystem, sleep: async () => undefined };

/** A paid create whose answer has arrived, in a process that ends after some tries to store it. */
async function startPaid() {
  const folder = makeFolder();
  const url = `sqlite:${join(folder, 'vps.sqlite')}`;
  const works: Watch = (_, run) => run();
  let watch = works;
  const store = await open(url, { openEngine: openWatched((...statement) => watch(...statement)) });
  const operation = newCreate();
  await store.ledger.prepare(operation);
  await markSent(store, operation.id, T0);
  const found = await store.ledger.find(operation.id);
  if (!found) throw new Error('the operation is gone');
  const die = new Error('SIGTERM');
  return {
    folder,
    store,
    id: operation.id,
    operation: found,
    /** `fails` says which tries find a full disk; the process ends at the try after the last one. */
    settle: async (fails: readonly boolean[]) => {
      let tries = 0;
      watch = async ({ sql }, run) => {
        if (sql === 'commit' && (fails[tries++] ?? true)) throw new Error('database or disk is full');
        return run();
      };
      const sleep = async (_: number, signal?: AbortSignal) => {
        if (signal) return untilAborted(signal);
        if (tries >= fails.length) throw die;
      };
      const ports = makeContext(store, { system: { ...system, sleep } });
      await settleUntilStored({ operation: found, app: ports }, PAID).catch((error: unknown) => {
        if (error !== die) throw error;
      });
      watch = works;
    },
    /** The database takes the answer, and says nothing until the process ends. */
    hang: async () => {
      watch = ({ sql }, run, connection) => (sql === 'commit' ? connection.abandon().then(never) : run());
      const sleep = vi.fn(async () => undefined);
      const ports = makeContext(store, { system: { ...system, sleep } });
      void settleUntilStored({ operation: found, app: ports }, PAID);
      await until(() => filesOf(folder).length > 0);
      return sleep.mock.calls;
    },
    /** An answer that proves nothing comes while the database takes nothing more; then the process ends. */
    fail: async () => {
      const sleep = async (_: number, signal?: AbortSignal) => {
        if (signal) return untilAborted(signal);
        throw die;
      };
      watch = () => Promise.reject(new Error('database or disk is full'));
      const ports = makeContext(store, { system: { ...system, sleep } });
      await endFailedPayment(found, UNCLEAR, 'p1', ports).catch((error: unknown) => {
        if (error !== die) throw error;
      });
    },
    /** An answer that proves nothing comes; the process ends right after the first commit. */
    endAtCommit: async () => {
      let hasEnded = false;
      watch = async ({ sql }, run, connection) => {
        if (hasEnded) return connection.abandon().then(never);
        const result = await run();
        hasEnded ||= sql === 'commit';
        return result;
      };
      const sleep = async (_: number, signal?: AbortSignal) => signal && untilAborted(signal);
      void endFailedPayment(found, UNCLEAR, 'p1', makeContext(store, { system: { ...system, sleep } }));
      await until(() => hasEnded);
    },
    restart: async () => {
      watch = works;
      await store.close();
      const again = await open(url);
      const ports = makeContext(again, { system });
      return { again, left: await storeSpilled(await readSpilled(ports), ports) };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const filesOf = (folder: string) =>
  readdirSync(join(folder, 'vps.sqlite.spill')).filter((file) => file !== 'reserve');

describe('a root password that arrived while the disk was full', () => {
  test('is there after the next start, whenever the process ended', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), async (fails) => {
        const paid = await startPaid();
        await paid.settle(fails);
        // Once the database has taken it, no file has it any more.
        if (fails.includes(false)) expect(filesOf(paid.folder)).toEqual([]);
        const { again, left } = await paid.restart();
        expect(left).toEqual([]);
        expect(await again.ledger.find(paid.id)).toMatchObject({ state: 'settled', hasPassword: true });
        expect((await again.passwords.find(paid.id))?.password.reveal()).toBe(PASSWORD);
        expect(filesOf(paid.folder)).toEqual([]);
        await again.close();
      }),
      { numRuns: triesOf({ short: 15, long: 300 }) },
    );
  });

  test('is there after the next start, when the database said nothing until the process was killed', async () => {
    const paid = await startPaid();
    expect(await paid.hang()).toEqual([[1000, expect.any(AbortSignal)]]);
    const { again, left } = await paid.restart();
    expect(left).toEqual([]);
    expect((await again.passwords.find(paid.id))?.password.reveal()).toBe(PASSWORD);
    expect(filesOf(paid.folder)).toEqual([]);
    await again.close();
  });

  test('is there after the next start when its answer proved nothing, and the server is found later', async () => {
    const paid = await startPaid();
    await paid.fail();
    expect(filesOf(paid.folder)).toHaveLength(1);
    const { again, left } = await paid.restart();
    expect(left).toEqual([]);
    expect(filesOf(paid.folder)).toEqual([]);
    await again.ledger.settle(paid.id, FOUND, entry({ outcome: 'done' }));
    expect((await again.passwords.find(paid.id))?.password.reveal()).toContain(PASSWORD);
    await again.close();
  });

  test.each([
    ['it is saved', (store: Store, id: string) => store.passwords.erase(id)],
    [
      'the server is deleted',
      (store: Store, operationId: string) =>
        store.audit.add(entry({ action: 'delete', outcome: 'done', serverId: 7, operationId })),
    ],
  ])('is kept when its answer proved nothing and its encryption key is missing while the server is found, until %s', async (_, end) => {
    const paid = await startPaid();
    await endFailedPayment(paid.operation, UNCLEAR, 'p1', makeContext(paid.store, { system }));
    await paid.store.close();
    const url = `sqlite:${join(paid.folder, 'vps.sqlite')}`;
    const next = `next:${makeKey('next')}`;
    const both = createVault(parseKeyring(`${next},test:${makeKey('store')}`));
    await (await open(url, { vault: both })).close();
    const without = await open(url, { vault: createVault(parseKeyring(next)) });
    await without.ledger.settle(paid.id, FOUND, entry({ outcome: 'done' }));
    expect(await without.ledger.find(paid.id)).toMatchObject({ state: 'settled', hasPassword: true });
    expect(await without.passwords.listHeld('T1')).toMatchObject([{ creatorId: 'U1', serverId: 7 }]);
    await expect(without.passwords.find(paid.id)).rejects.toMatchObject({ code: 'key_unreadable' });
    await without.close();
    const again = await open(url, { vault: both });
    expect((await again.sealed.openAll()).unopened).toEqual([]);
    expect(await again.sealed.reseal(() => undefined)).toBeGreaterThan(0);
    const giveTo = (userId: string) =>
      bySql(url.slice('sqlite:'.length), (db) =>
        db.prepare('update passwords set creator_id = ?').run(userId),
      );
    await giveTo('U9');
    await expect(again.passwords.find(paid.id)).rejects.toThrow(/was altered/);
    await giveTo('U1');
    expect((await again.passwords.find(paid.id))?.password.reveal()).toMatch(
      /^No root password.*\n.*hunter/s,
    );
    await end(again, paid.id);
    expect(await again.passwords.listHeld('T1')).toEqual([]);
    await again.close();
  });

  test('is kept when its answer proved nothing, although another process has ended the order at that moment', async () => {
    const { store, id, operation } = await startPaid();
    const { ledger, passwords } = store;
    const markUnconfirmed: typeof ledger.markUnconfirmed = async (_, { reason }, audit) => {
      await ledger.markUnconfirmed(id, { reason }, audit);
      return ledger.markUnconfirmed(id, { reason }, audit);
    };
    const ports = makeContext({ ...store, ledger: { ...ledger, markUnconfirmed } }, { system });
    await endFailedPayment(operation, UNCLEAR, 'p1', ports);
    await ledger.settle(id, FOUND, entry({ outcome: 'done' }));
    expect((await passwords.find(id))?.password.reveal()).toContain(PASSWORD);
  });

  test('is told of by the next process if its answer proved nothing, came after the server was found, and was stored at the last moment', async () => {
    const paid = await startPaid();
    const { ledger, jobStore } = paid.store;
    await ledger.settle(paid.id, FOUND, entry({ outcome: 'done' }));
    for (const job of await jobStore.list(OPERATION, 'T1')) await jobStore.end(job, undefined, 0);
    await paid.endAtCommit();
    const { again } = await paid.restart();
    expect((await again.passwords.find(paid.id))?.password.reveal()).toContain(PASSWORD);
    expect(await again.ledger.find(paid.id)).toMatchObject({ notifiedAt: undefined });
    expect(await again.jobStore.list(OPERATION, 'T1')).toMatchObject([{ key: paid.id }]);
    await again.close();
  });

  test('is kept sealed, in a file for its owner only that has its place on the disk before', async () => {
    const paid = await startPaid();
    const spill = join(paid.folder, 'vps.sqlite.spill');
    expect(statSync(join(spill, 'reserve')).size).toBe(32 * 1024);
    await paid.settle([true]);
    expect(filesOf(paid.folder)).toEqual([`${paid.id}.sealed`]);
    expect(statSync(spill).mode & 0o777).toBe(0o700);
    expect(statSync(join(spill, `${paid.id}.sealed`)).mode & 0o777).toBe(0o600);
    expect(readBytes(spill).includes(PASSWORD)).toBe(false);
  });

  test('is stored once, also when its file could not be removed', async () => {
    const paid = await startPaid();
    await paid.settle([true]);
    const ports = makeContext(paid.store, { system });
    const spilled = await readSpilled(ports);
    const broken = { ...paid.store.spill, remove: async () => Promise.reject(new Error('read-only')) };
    expect(await storeSpilled(spilled, { ...ports, spill: broken })).toEqual([]);
    expect(filesOf(paid.folder)).toHaveLength(1);
    const { again } = await paid.restart();
    expect(filesOf(paid.folder)).toEqual([]);
    const done = (await again.audit.list({ workspaceId: 'T1', limit: 10 })).filter(
      ({ outcome }) => outcome === 'done',
    );
    expect(done).toHaveLength(1);
  });
});
