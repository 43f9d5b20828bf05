import type { System } from '../system.ts';

export function withResolvers<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Leaves time for an answer to Slack, which has to come within 3 s. */
const TIMEOUT_MS = 1200;

/** Waits for work, 1.2 s unless `timeoutMs` says otherwise; undefined if it takes longer. @throws what the work throws in time */
export async function withTimeout<Result>(
  work: Promise<Result>,
  system: System,
  timeoutMs = TIMEOUT_MS,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const late = system.sleep(timeoutMs, stop.signal).then(
    () => undefined,
    () => undefined,
  );
  // A failure after the timeout is handled by the code that awaits the work itself.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}

/**
 * Runs work of one name one at a time, in the order in which it comes. Nothing waits longer than `mostMs`, so work that never ends
 * doesn't hold up the rest forever.
 */
export function createTurns(system: System, mostMs: number) {
  /** Resolves when all work of a name has ended. */
  const ends = new Map<string, Promise<unknown>>();
  return <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const before = ends.get(name);
    const done = before ? withTimeout(before, system, mostMs).then(work) : work();
    const ended: Promise<unknown> = Promise.allSettled([before, done]).then(() => {
      if (ends.get(name) === ended) ends.delete(name);
    });
    ends.set(name, ended);
    return done;
  };
}

/** Running work that the app waits for before it stops. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts this work until it ends, and returns it. The caller handles what it throws. */
  add<Result>(work: Promise<Result>): Promise<Result> {
    const ended: Promise<unknown> = work.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return work;
  }

  /** Resolves when all work has ended, including work that was added in the meantime. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
