import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import type { ApiCalls } from '../../src/hosting/hosting-api.ts';
import { Limiter, type LimiterOptions } from '../../src/hosting/limiter.ts';
import type { System } from '../../src/system.ts';
import { triesOf } from '../support/tries.ts';
import { holdTime, memoryCalls, mostInAnyWindow, settle } from './support.ts';

const WINDOW_MS = 60_000;
const TIMEOUT_MS = 30_000;
/** How long a slot may be held: 15 s to prepare, the timeout, 5 s in transit, and the window. */
const LONGEST_HOLD_MS = 15_000 + TIMEOUT_MS + 5_000 + WINDOW_MS + 50;

function open(system: System, options: Partial<LimiterOptions> = {}): Limiter {
  return new Limiter({ system, calls: memoryCalls(), account: ['a'], timeoutMs: TIMEOUT_MS, ...options });
}

/** A limiter with a clock that is moved by hand, and what comes through it. */
function start(options: Partial<LimiterOptions> = {}) {
  const { system, pass } = holdTime();
  const calls = memoryCalls();
  return { system, pass, calls, limiter: open(system, { calls, ...options }), play: new Play(system) };
}

/** A call with its start, its arrival somewhere between sending and answer, and its end. */
interface Planned {
  readonly askAt: number;
  readonly urgency: 'user' | 'background';
  readonly latencyMs: number;
  /** 0: arrives as it is sent; 1: as it is answered. */
  readonly arrivesAfter: number;
  readonly ends: 'answered' | 'failed';
}

const planned: fc.Arbitrary<Planned> = fc.record({
  // Bursts at a few moments, so that windows of every alignment get full.
  askAt: fc.oneof(fc.nat(200_000), fc.constantFrom(0, 1, 29_999, 55_000, 59_999, 60_000, 60_500, 119_000)),
  urgency: fc.constantFrom('user', 'background'),
  latencyMs: fc.oneof(fc.nat(400), fc.nat(TIMEOUT_MS), fc.constant(TIMEOUT_MS)),
  arrivesAfter: fc.constantFrom(0, 0.5, 1),
  ends: fc.constantFrom('answered', 'answered', 'failed'),
});

/** Runs calls through a limiter and records when they reached the service. */
class Play {
  readonly arrivals: number[] = [];
  readonly served: { plan: Planned; askedAt: number; servedAt: number }[] = [];
  readonly outcomes: Promise<unknown>[] = [];
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  /** The process dies: calls in flight arrive soon, or never. */
  cut(): void {
    const latest = this.#system.elapsed() + 4_900;
    for (const [index, at] of this.arrivals.entries()) this.arrivals[index] = Math.min(at, latest);
  }

  /** Every plan at its time. */
  askAll(limiter: Limiter, plans: readonly Planned[]): Happening[] {
    return plans.map((plan) => ({ at: plan.askAt, happens: () => this.ask(limiter, plan) }));
  }

  ask(limiter: Limiter, plan: Planned): void {
    const askedAt = this.#system.elapsed();
    const send = async () => {
      const servedAt = this.#system.elapsed();
      this.arrivals.push(servedAt + plan.latencyMs * plan.arrivesAfter);
      this.served.push({ plan, askedAt, servedAt });
      await this.#system.sleep(plan.latencyMs);
      if (plan.ends === 'failed') throw new Error('no answer');
    };
    this.outcomes.push(limiter.run({ urgency: plan.urgency, send }).catch((error: unknown) => error));
  }
}

type Happening = { at: number; happens: () => void };

async function playOut(pass: (ms: number) => Promise<void>, happenings: Happening[], untilMs: number) {
  let now = 0;
  for (const { at, happens } of [...happenings].sort((a, b) => a.at - b.at)) {
    if (at > now) await pass(at - now);
    now = Math.max(now, at);
    happens();
  }
  await pass(untilMs - now);
}

const small = { limit: 6, backgroundLimit: 2, maxWaitMs: 3_600_000 };

describe('the limit', () => {
  it('is not exceeded by crashes and restarts, whenever and however often they happen', async () => {
    const crash = fc.record({
      plans: fc.array(planned, { minLength: 6, maxLength: 30 }),
      crashesAt: fc.array(fc.nat(240_000), { minLength: 1, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(crash, async ({ plans, crashesAt }) => {
        const { system, pass } = holdTime();
        const calls = memoryCalls();
        let limiter = open(system, { ...small, calls });
        const play = new Play(system);
        const restart = () => {
          limiter.close();
          play.cut();
          limiter = open(system, { ...small, calls });
        };
        const happenings = [...plans, ...plans].map((plan, index) => ({
          at: plan.askAt + (index < plans.length ? 0 : (crashesAt[index % crashesAt.length] ?? 0)),
          happens: () => play.ask(limiter, plan),
        }));
        const restarts = crashesAt.map((at) => ({ at, happens: restart }));
        await playOut(pass, [...happenings, ...restarts], 1_500_000);
        expect(mostInAnyWindow(play.arrivals)).toBeLessThanOrEqual(small.limit);
        vi.useRealTimers();
      }),
      { numRuns: triesOf({ short: 12, long: 400 }) },
    );
  });

  it('is used as fast, and never exceeded, when the wall clock is stepped', async () => {
    const plans = Array.from({ length: 20 }, () => ({ ...QUICK, askAt: 0 }));
    for (const stepMs of [0, -3_600_000, 3_600_000]) {
      const { limiter, play, pass } = start(small);
      const step = (at: number) => ({ at, happens: () => vi.setSystemTime(Date.now() + stepMs) });
      await playOut(
        pass,
        [step(0), ...play.askAll(limiter, plans), step(10), step(30_000), step(90_000)],
        300_000,
      );
      expect(mostInAnyWindow(play.arrivals)).toBe(small.limit);
      const [first = 0] = play.arrivals;
      const minutes = play.arrivals.map((at) => Math.floor((at - first) / WINDOW_MS));
      expect(minutes).toEqual(plans.map((_, index) => Math.floor(index / small.limit)));
      vi.useRealTimers();
    }
  });

  it('counts a call that was cut off for five more seconds, since it may still be in transit', async () => {
    const { limiter, pass } = start({ limit: 1 });
    const send = () => Promise.reject(new HostingError('no_answer', 'maybe'));
    await Promise.all([limiter.run({ urgency: 'user', send }).catch(() => {}), pass(10)]);
    const next = limiter.run({ urgency: 'user', send: async (waitedMs) => waitedMs });
    await pass(66_000);
    expect(await next).toBeGreaterThan(64_900);
  });
});

const QUICK: Planned = { askAt: 0, urgency: 'user', latencyMs: 100, arrivesAfter: 0.5, ends: 'answered' };
const BACKGROUND: Planned = { ...QUICK, urgency: 'background' };

describe('users', () => {
  it('never wait behind a background call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 10, maxLength: 40 }), async (plans) => {
        const { limiter, play, pass } = start(small);
        await playOut(pass, play.askAll(limiter, plans), 1_500_000);
        const people = play.served.filter(({ plan }) => plan.urgency === 'user');
        for (const background of play.served.filter(({ plan }) => plan.urgency === 'background')) {
          const overtaken = people.filter(
            (person) => person.askedAt < background.servedAt && person.servedAt > background.servedAt,
          );
          expect(overtaken).toEqual([]);
        }
        vi.useRealTimers();
      }),
      { numRuns: triesOf({ short: 8, long: 200 }) },
    );
  });

  it('never find all slots taken by background work, however much of it there is', async () => {
    const { limiter, play, pass } = start();
    for (let call = 0; call < 300; call++) play.ask(limiter, BACKGROUND);
    await pass(500);
    expect(play.served).toHaveLength(100);
    for (let call = 0; call < 200; call++) play.ask(limiter, QUICK);
    await pass(500);
    expect(play.served).toHaveLength(300);
    expect(limiter.budget()).toEqual({ taken: 300, limit: 300, waiting: 200 });
  });
});

it('at most 25 calls of one caller wait: the rest is refused until one of them was sent', async () => {
  const MOST = 25;
  const tooMany = new Refusal('too_many_waiting', {});
  const { limiter, pass, system } = start({ limit: 1 });
  const outcomes: unknown[] = [];
  const ask = (caller?: string) => {
    const sent = limiter.run({ urgency: 'user', caller, send: async () => system.elapsed() });
    void sent.catch((error: unknown) => error).then((outcome) => outcomes.push(outcome));
  };
  ask('ann');
  await pass(10);
  for (let call = 0; call < MOST + 2; call++) ask('ann');
  await pass(10);
  expect(outcomes).toEqual([expect.any(Number), tooMany, tooMany]);
  // Everybody has 25 of their own, and what the app does for no caller isn't counted.
  ask('bob');
  for (let call = 0; call < 2 * MOST; call++) ask();
  await pass(10);
  expect(limiter.budget().waiting).toBe(MOST + 1 + 2 * MOST);
  await pass(60_100);
  ask('ann');
  ask('ann');
  await pass(10);
  expect(outcomes.slice(3)).toEqual([expect.any(Number), tooMany]);
});

describe('a wait', () => {
  it('is reported to the user once if it takes five seconds, and not if it is shorter', async () => {
    const { limiter, pass } = start({ limit: 1 });
    const onWait = vi.fn();
    const send = async () => 'done';
    await Promise.all([limiter.run({ urgency: 'user', onWait, send }), pass(10)]);
    const second = limiter.run({ urgency: 'user', onWait, send });
    await pass(4_900);
    expect(onWait).not.toHaveBeenCalled();
    await pass(200);
    expect(onWait).toHaveBeenCalledOnce();
    await pass(60_000);
    expect(await second).toBe('done');
    expect(onWait).toHaveBeenCalledOnce();
  });

  it('ends after 90 s with a refusal: nothing was sent or is sent later', async () => {
    const { limiter, pass } = start({ limit: 1, windowMs: 600_000 });
    const send = vi.fn(async () => 'done');
    const beforeSend = vi.fn(async () => {});
    await Promise.all([limiter.run({ urgency: 'user', send }), pass(10)]);
    const late = limiter.run({ urgency: 'user', beforeSend, send }).catch((error: unknown) => error);
    await pass(90_100);
    expect(await late).toEqual(new Refusal('waited_too_long', {}));
    await pass(600_000);
    expect(send).toHaveBeenCalledOnce();
    expect(beforeSend).not.toHaveBeenCalled();
    expect(limiter.budget()).toMatchObject({ taken: 0, waiting: 0 });
  });
});

it('a pause holds back all calls, and sends them afterwards', async () => {
  const { limiter, play, pass } = start();
  limiter.pause(10_000);
  await pass(5);
  for (const plan of [QUICK, BACKGROUND, QUICK]) play.ask(limiter, plan);
  await pass(5_000);
  limiter.pause(8_000);
  await pass(7_900);
  expect(play.served).toEqual([]);
  await pass(200);
  expect(play.served).toHaveLength(3);
});

describe('before a call is sent', () => {
  it('its slot is stored first, and then the caller commits', async () => {
    const happened: string[] = [];
    const take: ApiCalls['take'] = async ({ account }) => happened.push(`slot of ${account}`) > 0;
    const { pass, limiter } = start({ calls: { ...memoryCalls(), take } });
    const beforeSend = async () => void happened.push('before');
    const sent = limiter.run({ urgency: 'user', beforeSend, send: async () => void happened.push('sent') });
    await pass(10);
    await sent;
    expect(happened).toEqual(['slot of a', 'before', 'sent']);
  });

  it('nothing is sent and no slot stays taken when the caller refuses', async () => {
    const { limiter, pass } = start({ limit: 1 });
    const send = vi.fn(async () => 'done');
    const refusal = new Refusal('already_handled', {});
    const beforeSend = () => Promise.reject(refusal);
    const refused = limiter.run({ urgency: 'user', beforeSend, send }).catch((error: unknown) => error);
    await pass(10);
    expect(await refused).toBe(refusal);
    expect(send).not.toHaveBeenCalled();
    const next = limiter.run({ urgency: 'user', send });
    await pass(10);
    expect(await next).toBe('done');
  });

  it('nothing is sent when the commits took so long that the slot may have expired', async () => {
    const { limiter, pass, system } = start();
    const send = vi.fn(async () => 'done');
    const late = limiter
      .run({ urgency: 'user', beforeSend: () => system.sleep(16_000), send })
      .catch((error: unknown) => error);
    await pass(17_000);
    expect(await late).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
    expect(send).not.toHaveBeenCalled();
  });

  it('a store that can’t be written fails the call, and the next call tries again', async () => {
    const calls = memoryCalls();
    const take = vi.fn(calls.take).mockRejectedValueOnce(new Error('disk'));
    const { pass, limiter } = start({ calls: { ...calls, take } });
    const send = async () => 'done';
    const failed = limiter.run({ urgency: 'user', send }).catch((error: unknown) => error);
    await pass(10);
    expect(await failed).toMatchObject({ message: 'disk' });
    const next = limiter.run({ urgency: 'user', send });
    await pass(10);
    expect(await next).toBe('done');
  });
});

describe('slots that another process holds', () => {
  const slotOf = (id: string) => ({ id, account: ['a'] as const, workspaceId: '' });

  it('are counted after a restart for as long as a call can hold them', async () => {
    const { pass, calls, limiter } = start({ limit: 1, maxWaitMs: 600_000 });
    await calls.take(slotOf('one'), { limit: 1, maxHoldMs: LONGEST_HOLD_MS });
    const late = limiter.run({ urgency: 'user', send: async (waitedMs) => waitedMs });
    await pass(LONGEST_HOLD_MS + 1_000);
    expect(await late).toBeGreaterThanOrEqual(LONGEST_HOLD_MS);
  });

  it('are polled together twice a second, and the most urgent call gets the first that is free', async () => {
    const { system, pass } = holdTime();
    const calls = memoryCalls();
    const held = ['one', 'two', 'three'];
    for (const id of held) await calls.take(slotOf(id), { limit: 3, maxHoldMs: LONGEST_HOLD_MS });
    const moments = new Set<number>();
    const limiter = open(system, {
      limit: 3,
      calls: {
        ...calls,
        take: (...given) => {
          moments.add(Math.round(system.elapsed()));
          return calls.take(...given);
        },
      },
    });
    const served: string[] = [];
    const ask = (name: string, urgency: 'user' | 'background' | 'payment') =>
      limiter.run({ urgency, send: async () => void served.push(name) });
    const asked = [ask('background', 'background'), ask('user', 'user')];
    await pass(100);
    expect(limiter.budget()).toEqual({ taken: 3, limit: 3, waiting: 2 });
    asked.push(ask('payment', 'payment'));
    await pass(9_900);
    // Every 250 to 750 ms, at random: about twenty times.
    expect(moments.size).toBeLessThanOrEqual(30);
    for (const id of held) {
      await calls.release([id], LONGEST_HOLD_MS);
      await pass(1_000);
    }
    await Promise.all(asked);
    expect(served).toEqual(['payment', 'user', 'background']);
  });

  it('never exceed the limit together with this process’s, with any key or from any workspace', async () => {
    const KEYS = ['old', 'new'] as const;
    const WORKSPACES = ['T1', 'T2'] as const;
    const asked = fc.record({
      plan: planned,
      process: fc.constantFrom(0, 1),
      key: fc.constantFrom(...KEYS),
      workspaceId: fc.constantFrom(...WORKSPACES),
      count: fc.integer({ min: 1, max: small.limit }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 3, maxLength: 15 }), async (plans) => {
        const { system, pass } = holdTime();
        const calls = memoryCalls();
        const processes = [0, 1].map(() =>
          KEYS.map((key) => [key, open(system, { ...small, calls, account: [key] })] as const),
        );
        const arrivals: { key: string; workspaceId: string; at: number }[] = [];
        const ask = ({ plan, process, key, workspaceId, count }: (typeof plans)[number]) => {
          const limiter = new Map(processes[process]).get(key);
          const send = async () => {
            arrivals.push({ key, workspaceId, at: system.elapsed() + plan.latencyMs * plan.arrivesAfter });
            await system.sleep(plan.latencyMs);
            if (plan.ends === 'failed') throw new Error('no answer');
          };
          for (let call = 0; call < count; call++)
            limiter?.run({ urgency: plan.urgency, workspaceId, send }).catch(() => undefined);
        };
        await playOut(
          pass,
          plans.map((each) => ({ at: each.plan.askAt, happens: () => ask(each) })),
          1_800_000,
        );
        expect(arrivals).toHaveLength(plans.reduce((sum, { count }) => sum + count, 0));
        const most = (isSame: (one: (typeof arrivals)[number]) => boolean) =>
          mostInAnyWindow(arrivals.filter(isSame).map(({ at }) => at));
        for (const name of KEYS) expect(most(({ key }) => key === name)).toBeLessThanOrEqual(small.limit);
        for (const id of WORKSPACES)
          expect(most(({ workspaceId }) => workspaceId === id)).toBeLessThanOrEqual(small.limit);
        expect(calls.rows.size).toBe(0);
        for (const [, limiter] of processes.flat())
          expect(limiter.budget()).toEqual({ taken: 0, waiting: 0, limit: small.limit });
        vi.useRealTimers();
      }),
      { numRuns: triesOf({ short: 12, long: 400 }) },
    );
  });

  it('that expired are removed even if the store fails to remove them at first', async () => {
    const calls = memoryCalls();
    const release = vi.fn(calls.release).mockRejectedValueOnce(new Error('locked'));
    const { pass, limiter, play } = start({ ...small, calls: { ...calls, release } });
    play.ask(limiter, QUICK);
    await pass(63_000);
    expect([calls.rows.size, limiter.budget().taken]).toEqual([1, 0]);
    await pass(3_000);
    expect(calls.rows.size).toBe(0);
  });

  it('stay taken in the store if the limiter closes within the minute, and are removed if it closes later', async () => {
    const { pass, calls, limiter, play } = start(small);
    play.ask(limiter, QUICK);
    await pass(63_000);
    expect(calls.rows.size).toBe(0);
    play.ask(limiter, QUICK);
    await pass(1_000);
    limiter.close();
    await settle();
    expect(calls.rows.size).toBe(1);
  });
});

it('a limiter that closes refuses waiting and new calls, lets calls in flight end, and leaves no timer behind', async () => {
  const { limiter, play, pass } = start({ limit: 2, backgroundLimit: 1 });
  for (const plan of [QUICK, QUICK, QUICK, BACKGROUND, BACKGROUND]) play.ask(limiter, plan);
  await pass(50);
  limiter.close();
  play.ask(limiter, QUICK);
  const refused = new Refusal('shutting_down', {});
  expect(await Promise.all(play.outcomes.slice(2))).toEqual([refused, refused, refused, refused]);
  await pass(100);
  expect(await Promise.all(play.outcomes.slice(0, 2))).toEqual([undefined, undefined]);
  expect(play.served).toHaveLength(2);
  await settle();
  expect(vi.getTimerCount()).toBe(0);
});
