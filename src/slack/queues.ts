import { LRUCache } from 'lru-cache';
import type { System } from '../system.ts';

/** Works through what was added for each key, one after the other; the same again is done once. The work must not throw. */
interface Lines<Key, One> {
  add(key: Key, ones: readonly One[]): void;
}

export function createLines<Key, One>(work: (key: Key, one: One) => Promise<void>): Lines<Key, One> {
  const lines = new Map<Key, Set<One>>();
  const workThrough = async (key: Key, waiting: Set<One>) => {
    for (const one of waiting) {
      waiting.delete(one);
      await work(key, one);
    }
    lines.delete(key);
  };
  return {
    add: (key, ones) => {
      const waiting = lines.get(key);
      if (waiting) {
        for (const one of ones) waiting.add(one);
        return;
      }
      const begun = new Set(ones);
      lines.set(key, begun);
      void workThrough(key, begun);
    },
  };
}

/** Runs what shows something, one after another for each key: of what waits, only the newest is run. */
export interface NewestFirst {
  /** `gapMs`: begins no sooner than that after the last one has ended. */
  run(key: string, work: () => Promise<boolean>, gapMs: number): Promise<boolean>;
  /** Another number after each run: whether something newer was shown since. */
  version(key: string): number;
}

interface Waiting {
  work: () => Promise<boolean>;
  done: Promise<boolean>;
}

interface Line {
  current: Promise<unknown>;
  waiting: Waiting | undefined;
  endedAt: number;
  version: number;
}

const MOST_KEYS = 10_000;

export function createNewestFirst(system: Pick<System, 'elapsed' | 'sleep'>): NewestFirst {
  const lines = new LRUCache<string, Line>({ max: MOST_KEYS });
  const lineOf = (key: string): Line => {
    const known = lines.get(key);
    if (known) return known;
    const made = {
      ...{ current: Promise.resolve(), waiting: undefined },
      ...{ endedAt: Number.NEGATIVE_INFINITY, version: 0 },
    };
    lines.set(key, made);
    return made;
  };
  return {
    run: (key, work, gapMs) => {
      const line = lineOf(key);
      if (line.waiting) {
        line.waiting.work = work;
        return line.waiting.done;
      }
      const waiting: Waiting = { work, done: Promise.resolve(false) };
      line.waiting = waiting;
      waiting.done = runNext(line, waiting, gapMs, system);
      return waiting.done;
    },
    version: (key) => lineOf(key).version,
  };
}

async function runNext(
  line: Line,
  waiting: Waiting,
  gapMs: number,
  system: Pick<System, 'elapsed' | 'sleep'>,
): Promise<boolean> {
  await line.current;
  const restMs = line.endedAt + gapMs - system.elapsed();
  if (restMs > 0) await system.sleep(restMs);
  line.waiting = undefined;
  line.version++;
  const running = waiting.work();
  line.current = running.catch(() => undefined);
  try {
    return await running;
  } finally {
    line.endedAt = system.elapsed();
  }
}
