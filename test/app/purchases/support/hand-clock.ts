import { createIds, realSystem, type System } from '../../../../src/system.ts';
import { T0 } from '../../../store/fixtures.ts';

/** A clock that stands until a test moves it. It outlives the processes that sleep by it. */
export interface HandClock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Moves on by so many milliseconds, waking every sleeper at its time. */
  pass(ms: number): Promise<void>;
  /** Runs the work, moving on to the next sleeper whenever everything waits; ends early when `isOver`. */
  run(work: Promise<unknown>, isOver?: () => boolean): Promise<void>;
  /** Sets the wall clock forward, or back by a negative number; no time passes. */
  step(ms: number): void;
  /** The system of one process. */
  system(): System;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** The longest time that one piece of work may take. */
const LONGEST_MS = 30 * 60_000;

export function createHandClock(): HandClock {
  let now = T0;
  let wallOffset = 0;
  const sleepers = new Set<Sleeper>();
  const wakeNext = async (until: number) => {
    const [next] = [...sleepers].filter((sleeper) => sleeper.until <= until).sort(byTime);
    if (!next) return false;
    now = Math.max(now, next.until);
    sleepers.delete(next);
    next.wake();
    await settle();
    return true;
  };
  const clock: HandClock = {
    now: () => now + wallOffset,
    step: (ms) => {
      wallOffset += ms;
    },
    sleep: (ms, signal) => fallAsleep(sleepers, now + ms, signal),
    pass: async (ms) => {
      const until = now + ms;
      while (await wakeNext(until)) {}
      now = until;
    },
    run: (work, isOver = () => false) => runWork(work, isOver, wakeNext, () => now),
    system: () => ({
      ...realSystem,
      now: clock.now,
      elapsed: () => now,
      sleep: clock.sleep,
      newId: createIds(clock.now, Math.random),
    }),
  };
  return clock;
}

function fallAsleep(sleepers: Set<Sleeper>, until: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((wake, fail) => {
    const stop = () => {
      sleepers.delete(sleeper);
      fail(signal?.reason);
    };
    // A signal outlives many sleeps: each takes its listener away again.
    const sleeper = {
      until,
      wake: () => {
        signal?.removeEventListener('abort', stop);
        wake();
      },
    };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

async function runWork(
  work: Promise<unknown>,
  isOver: () => boolean,
  wakeNext: (until: number) => Promise<boolean>,
  now: () => number,
): Promise<void> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined);
  await settle();
  for (const startedAt = now(); !isDone && !isOver(); ) {
    if (now() - startedAt > LONGEST_MS) throw new Error('the work never ends');
    if (!(await wakeNext(Number.POSITIVE_INFINITY))) throw new Error('the work waits for nothing');
  }
  if (isDone) await ended;
}

const byTime = (a: Sleeper, b: Sleeper) => a.until - b.until;

/** Lets everything happen that waits for promises alone. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
