import { LRUCache } from 'lru-cache';
import type { System } from '../system.ts';

/** A queue for each key, worked through one item after the other. An item that already waits is not added again. */
interface Lines<Key, One> {
  /** Adds items, and starts to work. Returns at once. */
  add(key: Key, ones: readonly One[]): void;
}

/** Creates the queues. The work must not throw. */
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

/** Runs work one after the other for each key. Of the work that waits for a key, only the newest is run. */
export interface NewestFirst {
  /**
   * Runs the work, or newer work in its place, no sooner than `gapMs` after the last run ended. Returns the result of what was
   * run. @throws what that throws
   */
  run(key: string, work: () => Promise<boolean>, gapMs: number): Promise<boolean>;
  /** Increments when a run begins. Compare two values to detect a newer run. */
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

/** Creates the queues, for the 10,000 keys that were used last. */
export function createNewestFirst(system: System): NewestFirst {
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

async function runNext(line: Line, waiting: Waiting, gapMs: number, system: System): Promise<boolean> {
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
