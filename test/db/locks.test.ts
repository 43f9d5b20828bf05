import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Refusal } from '../../src/core/errors.ts';
import { createLocks, type HeldLock, type Locks } from '../../src/db/locks.ts';
import { silentLog } from '../../src/log.ts';
import { realSystem, type System } from '../../src/system.ts';
import { gate } from '../slack/support/fakes.ts';
import { shareClock } from './places.ts';
import { makeFolder, newCreate, open, T0 } from './support.ts';

const LEASE_MS = 30_000;
const WAIT_MS = 120_000;

/** A clock that is moved by hand, for all processes of a test. */
function movedByHand() {
  const { clock, system, settle } = shareClock({ url: 'sqlite::memory:' });
  const pass = async (ms: number) => {
    await clock.pass(ms);
    await settle();
  };
  return { system, pass };
}

const turn = () => realSystem.sleep(5);

/** Runs the work once it is started, and says when it has started. */
async function hold(locks: Locks, name: string) {
  const work = gate();
  let held: HeldLock | undefined;
  const ended = locks.run(name, (lock) => {
    held = lock;
    return work.pass();
  });
  await work.reached;
  if (!held) throw new Error('it did not start');
  const end = () => {
    work.open();
    return ended;
  };
  return { lock: held, end };
}

describe('locks in one process', () => {
  let locks: Locks;
  beforeEach(async () => {
    const { lockLeases } = await open('sqlite::memory:', { system: realSystem });
    locks = createLocks({ leases: lockLeases, system: realSystem, log: silentLog });
  });

  test('run work with the same name in the order of arrival, whether it succeeds or fails', async () => {
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} starts`);
      await turn();
      order.push(`${name} ends`);
      if (name === 'b') throw new Error('b failed');
      return name;
    };
    const results = await Promise.allSettled(['a', 'b', 'c'].map((each) => locks.run('one', work(each))));
    expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('let work with different names run in parallel', async () => {
    const first = await hold(locks, 'one');
    const second = await hold(locks, 'two');
    await Promise.all([first.end(), second.end()]);
  });
});

describe('waiting for a lock', () => {
  test('ends with waited_too_long after two minutes, and the next in line still waits its turn', async () => {
    const { system, pass } = movedByHand();
    const { lockLeases } = await open('sqlite::memory:', { system });
    const locks = createLocks({ leases: lockLeases, system, log: silentLog });
    const first = await hold(locks, 'one');
    let outcome = 'waiting';
    const second = locks
      .run('one', async () => 'second')
      .catch((error: unknown) => {
        outcome = error instanceof Refusal ? error.code : 'another error';
      });
    await pass(WAIT_MS - 1);
    expect(outcome).toBe('waiting');
    let hasThirdRun = false;
    const third = locks.run('one', async () => {
      hasThirdRun = true;
    });
    await pass(1);
    await second;
    expect(outcome).toBe('waited_too_long');
    expect(hasThirdRun).toBe(false);
    await first.end();
    await third;
    expect(hasThirdRun).toBe(true);
  });

  test('ends the same way when another process keeps the lock', async () => {
    const { system, pass } = movedByHand();
    const leases = {
      take: async () => false,
      renew: async () => false,
      release: async () => undefined,
    };
    const locks = createLocks({ leases, system, log: silentLog });
    const waiting = expect(locks.run('one', async () => undefined)).rejects.toMatchObject({
      code: 'waited_too_long',
    });
    for (let passed = 0; passed <= WAIT_MS; passed += 250) await pass(250);
    await waiting;
  });
});

describe('two processes over one database', () => {
  let stores: readonly [Store, Store];
  let clock: number;
  beforeEach(async () => {
    clock = T0;
    const system = { ...realSystem, now: () => clock };
    const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
    stores = [await open(url, { system }), await open(url, { lock: false, system })];
  });
  const locksOf = ({ lockLeases }: Store, system: System = realSystem) =>
    createLocks({ leases: lockLeases, system, log: silentLog });

  test('never run work with the same name at the same time', async () => {
    const both = stores.map((store) => locksOf(store));
    let running = 0;
    let most = 0;
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
    };
    await Promise.all(both.flatMap((locks) => [1, 2, 3].map(() => locks.run('account', work))));
    expect(most).toBe(1);
  });

  test('free the lock of a killed process when its lease ends, not before', async () => {
    const [killed, other] = stores;
    const mine = { name: 'account', owner: 'killed' };
    const yours = { name: 'account', owner: 'other' };
    expect(await killed.lockLeases.take(mine, LEASE_MS)).toBe(true);
    clock = T0 + LEASE_MS - 1;
    expect(await other.lockLeases.take(yours, LEASE_MS)).toBe(false);
    clock = T0 + LEASE_MS;
    expect(await other.lockLeases.take(yours, LEASE_MS)).toBe(true);
    expect(await killed.lockLeases.renew(mine, LEASE_MS)).toBe(false);
    await killed.lockLeases.release(mine);
    expect(await killed.lockLeases.take(mine, LEASE_MS)).toBe(false);
  });

  test('keep the lock for as long as the work runs', async () => {
    const { system, pass } = movedByHand();
    const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
    const one = await open(url, { system });
    const two = await open(url, { lock: false, system });
    const held = await hold(locksOf(one, system), 'account');
    for (let passed = 0; passed < 3 * LEASE_MS; passed += 5000) {
      await pass(5000);
      expect(await two.lockLeases.take({ name: 'account', owner: 'other' }, LEASE_MS)).toBe(false);
      expect(held.lock.isHeld()).toBe(true);
    }
    await held.end();
    expect(await two.lockLeases.take({ name: 'account', owner: 'other' }, LEASE_MS)).toBe(true);
  });

  test.each([
    ['another one has taken it', async () => false],
    ['the store fails for as long as the lease lasts', async () => Promise.reject(new Error('disk full'))],
  ])('tell the work when its lock may be lost: %s', async (_name, renew) => {
    const { system, pass } = movedByHand();
    const leases = { ...stores[0].lockLeases, renew };
    const held = await hold(createLocks({ leases, system, log: silentLog }), 'account');
    expect(held.lock.isHeld()).toBe(true);
    await pass(LEASE_MS);
    expect(held.lock.isHeld()).toBe(false);
    await held.end();
  });
});

test('what a process held stays held for one beside it, and is free once the instance lock proves that it died', async () => {
  const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
  const operation = newCreate();
  const takeAs = async (owner: string, { ledger, lockLeases }: Store) => [
    await lockLeases.take({ name: 'account', owner }, LEASE_MS),
    await ledger.lease(operation.id, { owner, now: T0, until: T0 + 1000 }),
  ];
  const killed = await open(url);
  await killed.ledger.prepare(operation);
  expect(await takeAs('killed', killed)).toEqual([true, true]);
  expect(await takeAs('beside', await open(url, { lock: false }))).toEqual([false, false]);
  await killed.close();
  expect(await takeAs('next', await open(url))).toEqual([true, true]);
});
