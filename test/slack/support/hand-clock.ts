import { realSystem, type System } from '../../../src/system.ts';

/** A clock that stands still until a test moves it; sleeps end when it reaches their end. */
export interface HandClock {
  readonly system: System;
  /** Sleeps that have neither ended nor been aborted. */
  sleeping(): number;
  pass(ms: number): Promise<void>;
}

export function handClock(): HandClock {
  let elapsed = 1000;
  const sleepers = new Set<{ readonly until: number; wake(): void }>();
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, fail) => {
      const stop = () => {
        sleepers.delete(sleeper);
        fail(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper = { until: elapsed + ms, wake };
      sleepers.add(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
    });
  return {
    system: { ...realSystem, elapsed: () => elapsed, sleep },
    sleeping: () => sleepers.size,
    pass: async (ms) => {
      elapsed += ms;
      for (const sleeper of sleepers) {
        if (sleeper.until > elapsed) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await turn();
    },
  };
}

/** Lets all pending promises settle. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
