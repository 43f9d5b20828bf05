import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { createJobs, JOB_LEASE_MS, type Job, type JobHandlers } from '../../src/db/jobs.ts';
import { silentLog } from '../../src/log.ts';
import type { System } from '../../src/system.ts';
import { until } from '../support/eventually.ts';
import { type Place, places, shareClock } from './places.ts';
import { makeFolder, open, T0 } from './support.ts';

const JOB = { kind: 'post', key: 'k1', workspaceId: 'T1', payload: { text: 'hi' } } as const;

/** Processes that share a database and a clock, which is moved by hand. */
async function share(place: Place) {
  const { clock, system: shared, counted, settle } = shareClock(place);
  let setBackMs = 0;
  const system: System = { ...shared, now: () => shared.now() - setBackMs };
  const openJobs = async () => {
    const { jobStore: store } = await place.open({ system });
    const watched = new Proxy(store, {
      get: (target, name) => {
        const method: (...args: unknown[]) => Promise<unknown> = Reflect.get(target, name);
        return (...args: unknown[]) => counted(() => method(...args));
      },
    });
    return { store, jobs: createJobs(watched, system, silentLog) };
  };
  return {
    now: system.now,
    setBack: (ms: number) => {
      setBackMs += ms;
    },
    pass: async (ms: number, stepMs = 1000) => {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.pass(Math.min(stepMs, ms - passed));
        await settle();
      }
    },
    start: async (handlers: JobHandlers) => {
      const { jobs, store } = await openJobs();
      const stop = new AbortController();
      jobs.handle(handlers);
      const ended = jobs.run(stop.signal);
      onTestFinished(async () => {
        stop.abort();
        await Promise.race([ended, settle()]);
      });
      await settle();
      const endNow = () => {
        stop.abort();
        return ended;
      };
      return { jobs, store, stop: endNow, settle };
    },
    open: openJobs,
  };
}

/** A handler that waits until it is told to end. */
function makeSlow() {
  const runs: Job[] = [];
  const ends: (() => void)[] = [];
  const handler = (job: Job) => {
    runs.push(job);
    return new Promise<number | undefined>((resolve) => ends.push(() => resolve(undefined)));
  };
  return { runs, handler, end: () => ends.shift()?.() };
}

/** A process whose jobs end when they are told to. */
async function startSlow(make: () => Promise<Place>) {
  const place = await make();
  const shared = await share(place);
  const slow = makeSlow();
  return { place, shared, ...slow, ...(await shared.start({ post: slow.handler })) };
}

const several = places.filter(({ name }) => name === 'PostgreSQL');

describe.each(places)('jobs on $name', ({ make }) => {
  test('are done when they are due, and then gone', async () => {
    const { place, shared, runs, end, store } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() + 5000 });
    await shared.pass(4000);
    expect(runs).toEqual([]);
    await shared.pass(2000);
    expect(runs).toMatchObject([{ key: 'k1', workspaceId: 'T1', payload: { text: 'hi' } }]);
    end();
    await shared.pass(1000);
    expect(await place.sql('select * from jobs')).toEqual([]);
  });

  test('are done at once after a nudge', async () => {
    const { shared, runs, jobs, store, settle } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() });
    jobs.nudge();
    await settle();
    expect(runs).toHaveLength(1);
  });

  test('that are asked for while they run, run again, with what was asked for last', async () => {
    const { place, shared, runs, end, store } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(1000);
    await store.add({ ...JOB, payload: { text: 'again' }, dueAt: shared.now() });
    await shared.pass(2000);
    expect(runs).toHaveLength(1);
    expect(await store.save(runs[0] as Job, { text: 'from before' })).toBe(false);
    end();
    // A busy database may answer only after that much time has passed.
    await until(async () => {
      await shared.pass(500);
      return runs.length > 1;
    });
    expect(runs.map(({ payload }) => payload)).toEqual([{ text: 'hi' }, { text: 'again' }]);
    end();
    await until(async () => {
      await shared.pass(500);
      return (await place.sql('select * from jobs')).length === 0;
    });
  });

  test('that fail are tried again ever more rarely, without end, and others go on meanwhile', async () => {
    const shared = await share(await make());
    const tries: number[] = [];
    const done: string[] = [];
    const { store } = await shared.start({
      fail: async () => {
        tries.push(shared.now() - T0);
        throw new Error('not yet');
      },
      post: async ({ key }) => void done.push(key),
    });
    await store.add({ ...JOB, kind: 'fail', dueAt: shared.now() });
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(70_000);
    expect(done).toEqual(['k1']);
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect([pauses[0], pauses.length]).toEqual([2000, 5]);
  });

  test('that have failed thousands of times are still tried again every five minutes', async () => {
    const shared = await share(await make());
    const tries: number[] = [];
    const { store } = await shared.start({
      post: async ({ attempts }) => {
        tries.push(attempts);
        throw new Error('not yet');
      },
    });
    const now = shared.now();
    await store.add({ ...JOB, dueAt: now + 60_000 });
    const failing = await store.lease('post', JOB.key, { owner: 'dead', now, until: now + 1000 });
    await store.end(failing as Job, now, 5000);
    await shared.pass(1000);
    await shared.pass(298_000, 50_000);
    expect(tries).toEqual([5000]);
    await shared.pass(3000);
    expect(tries).toEqual([5000, 5001]);
  });

  test('that set their next time are due then, and have not failed', async () => {
    const shared = await share(await make());
    const seen: number[] = [];
    const { store } = await shared.start({
      post: async ({ attempts }) => {
        seen.push(attempts);
        return shared.now() + 10_000;
      },
    });
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(25_000);
    expect(seen).toEqual([0, 0, 0]);
  });

  test('of kinds that a process doesn’t know are left to one that does', async () => {
    const place = await make();
    const shared = await share(place);
    const { store } = await shared.start({ other: async () => undefined });
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(3000);
    expect(await place.sql("select owner from jobs where owner <> ''")).toEqual([]);
  });

  test('are asked for sooner, never later, after the clock was set back', async () => {
    const { shared, runs, store } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() + 5000 });
    shared.setBack(3_600_000);
    await shared.pass(2000);
    expect(runs).toHaveLength(1);
  });

  test('are not begun again by the process that is doing them, although it could not renew its lease in time', async () => {
    const { place, shared, runs, end, store } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(1000);
    await place.sql('update jobs set lease_until = 0');
    await shared.pass(3000);
    expect(runs).toHaveLength(1);
    end();
    await shared.pass(1000);
    expect(await place.sql('select * from jobs')).toEqual([]);
  });

  test('can be done now by the request that asked for them, and then not by anybody else', async () => {
    const { place, shared, runs, handler, end, jobs, store } = await startSlow(make);
    await store.add({ ...JOB, dueAt: shared.now() + 60_000 });
    const done = jobs.runNow('post', 'k1', handler);
    await shared.pass(1000);
    expect(await jobs.runNow('post', 'k1', handler)).toBe(false);
    end();
    expect(await done).toBe(true);
    expect(runs).toHaveLength(1);
    expect(await place.sql('select * from jobs')).toEqual([]);
  });
});

describe.each(several)('jobs of several processes on $name', ({ make }) => {
  test('are done by one of them, for as long as that one lives', async () => {
    const shared = await share(await make());
    const [first, second] = [makeSlow(), makeSlow()];
    const { store } = await shared.start({ post: first.handler });
    await shared.start({ post: second.handler });
    await store.add({ ...JOB, dueAt: shared.now() });
    await shared.pass(3 * JOB_LEASE_MS, 5000);
    expect([...first.runs, ...second.runs]).toHaveLength(1);
  });

  test('are taken over from a process that has died, once its lease has ended, and not by a start', async () => {
    const shared = await share(await make());
    const { store } = await shared.open();
    await store.add({ ...JOB, dueAt: shared.now() });
    const [dead] = await store.leaseDue('dead', ['post'], 1);
    await shared.pass(1000);
    const { runs, handler } = makeSlow();
    await shared.start({ post: handler });
    await shared.pass(JOB_LEASE_MS - 3000);
    expect(runs).toEqual([]);
    await shared.pass(4000);
    expect(runs).toHaveLength(1);
    // What it comes to in the end takes nothing from the other.
    expect(await store.save(dead as Job, {})).toBe(false);
    await store.end(dead as Job, undefined, 0);
    expect(await store.list('post', 'T1')).toHaveLength(1);
  });
});

test('a job that a process holds stays held for one beside it, and is free once the instance lock proves that it died', async () => {
  const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
  const leaseAs = async (owner: string, { jobStore }: Store) =>
    (await jobStore.lease(JOB.kind, JOB.key, { owner, now: T0, until: T0 + 1000 })) !== undefined;
  const killed = await open(url);
  await killed.jobStore.add({ ...JOB, dueAt: T0 });
  expect(await leaseAs('killed', killed)).toBe(true);
  expect(await leaseAs('beside', await open(url, { lock: false }))).toBe(false);
  await killed.close();
  expect(await leaseAs('next', await open(url))).toBe(true);
});
