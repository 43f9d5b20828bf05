import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type CallLimiter, joinLimiters, Limiter } from '../../src/hosting/limiter.ts';
import { realSystem, type System } from '../../src/system.ts';
import { triesOf } from '../attacks/support/tries.ts';
import { holdTime, memoryCalls, mostInAnyWindow } from './support.ts';

const TIMEOUT_MS = 30_000;
const LIMIT = 3;
let ids = 0;

/** The limiters of one process: the workspace’s, and those of two keys that may open one account. */
function openProcess(system: System, calls: ReturnType<typeof memoryCalls>) {
  // The IDs of two processes never meet.
  const own = { ...system, newId: () => `${realSystem.newId()}-${ids++}` };
  const open = (account: string) =>
    new Limiter({ system: own, calls, account, timeoutMs: TIMEOUT_MS, limit: LIMIT });
  const [workspace, old, fresh] = [open('T1'), open('old'), open('fresh')];
  return {
    old,
    fresh,
    throughOld: joinLimiters([workspace, old]),
    throughFresh: joinLimiters([workspace, fresh]),
  };
}

/** Calls that arrive when they are answered, that long after they were sent. */
function asking(system: System, arrivals: number[]) {
  return (limiter: CallLimiter, count: number, answeredAfterMs: number): void => {
    const send = async () => {
      await system.sleep(answeredAfterMs);
      arrivals.push(system.elapsed());
    };
    for (let call = 0; call < count; call++) limiter.run({ urgency: 'user', send }).catch(() => undefined);
  };
}

test('a call that waited long for a slot of its account still counts for its workspace in another process', async () => {
  const { system, pass } = holdTime();
  const calls = memoryCalls();
  const [one, other] = [openProcess(system, calls), openProcess(system, calls)];
  const arrivals: number[] = [];
  const ask = asking(system, arrivals);
  // Another workspace with the same key fills the account for nearly as long as a call may wait.
  asking(system, [])(one.old, LIMIT, 29_000);
  await pass(1_000);
  ask(one.throughOld, LIMIT, 25_000);
  await pass(1_000);
  ask(other.throughFresh, LIMIT, 100);
  await pass(85_000);
  ask(other.throughFresh, LIMIT, 100);
  await pass(400_000);
  expect(mostInAnyWindow(arrivals)).toBe(LIMIT);
  expect(arrivals).toHaveLength(2 * LIMIT);
  expect(calls.rows.size).toBe(0);
});

test('no minute has more calls of a workspace than the limit, whatever two processes with two API keys request', async () => {
  const asked = fc.array(
    fc.record({
      at: fc.oneof(fc.nat(240_000), fc.constantFrom(0, 87_000, 88_000)),
      process: fc.constantFrom(0, 1),
      through: fc.constantFrom('old', 'throughOld', 'throughFresh'),
      count: fc.integer({ min: 1, max: LIMIT }),
      answeredAfterMs: fc.constantFrom(0, 100, 25_000, TIMEOUT_MS),
    } as const),
    { minLength: 3, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(asked, async (plans) => {
      const { system, pass } = holdTime();
      const calls = memoryCalls();
      const processes = [openProcess(system, calls), openProcess(system, calls)];
      const [ofWorkspace, elsewhere]: [number[], number[]] = [[], []];
      let now = 0;
      for (const plan of [...plans].sort((a, b) => a.at - b.at)) {
        if (plan.at > now) await pass(plan.at - now);
        now = plan.at;
        const limiter = processes[plan.process]?.[plan.through];
        const ask = asking(system, plan.through === 'old' ? elsewhere : ofWorkspace);
        if (limiter) ask(limiter, plan.count, plan.answeredAfterMs);
      }
      await pass(600_000);
      expect(mostInAnyWindow(ofWorkspace)).toBeLessThanOrEqual(LIMIT);
      expect(calls.rows.size).toBe(0);
      vi.useRealTimers();
    }),
    { numRuns: triesOf({ short: 25, long: 400 }) },
  );
});

test('a call whose slot another process has freed isn’t sent, and waits again', async () => {
  const { system, pass } = holdTime();
  const calls = memoryCalls();
  const { old, throughOld } = openProcess(system, calls);
  asking(system, [])(old, LIMIT, 20_000);
  await pass(1_000);
  const [beforeSend, send] = [vi.fn(async () => {}), vi.fn(async () => 'sent')];
  const sent = throughOld.run({ urgency: 'payment', beforeSend, send }).catch((error: unknown) => error);
  await pass(1_000);
  await calls.release([...calls.rows].filter(([, { account }]) => account === 'T1').map(([id]) => id));
  await pass(85_000);
  expect(await sent).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
  expect([beforeSend, send].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  expect([throughOld.budget().taken, calls.rows.size]).toEqual([0, 0]);
});

test('a call whose slots can’t be taken again isn’t sent, and leaves none taken', async () => {
  const { system, pass } = holdTime();
  const stored = memoryCalls();
  const takeAgain = vi.fn(async (...given: Parameters<typeof stored.takeAgain>) => {
    await stored.takeAgain(...given);
    throw new Error('the connection was lost');
  });
  const { old, throughOld } = openProcess(system, { ...stored, takeAgain });
  asking(system, [])(old, LIMIT, 20_000);
  await pass(1_000);
  const send = vi.fn(async () => 'sent');
  const failed = throughOld.run({ urgency: 'user', send }).catch((error: unknown) => error);
  await pass(85_000);
  expect(await failed).toMatchObject({ message: 'the connection was lost' });
  expect([send.mock.calls.length, stored.rows.size]).toEqual([0, 0]);
});
