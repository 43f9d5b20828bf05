import { realSystem, type System } from '../../src/system.ts';

/** The real system with clocks that can be moved ahead, and a wall clock that can be set. Running sleeps are not affected. */
export function movableSystem(): System & { move(byMs: number): void; stepWall(byMs: number): void } {
  let aheadMs = 0;
  let wallOffsetMs = 0;
  return {
    ...realSystem,
    now: () => realSystem.now() + aheadMs + wallOffsetMs,
    elapsed: () => realSystem.elapsed() + aheadMs,
    move: (byMs) => {
      aheadMs += byMs;
    },
    stepWall: (byMs) => {
      wallOffsetMs += byMs;
    },
  };
}

/** Somebody who waits on a clock that a test moves. */
export interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Waits until a test wakes it, or until it is aborted. */
export function fallAsleep(
  sleepers: Set<Sleeper>,
  until: number,
  signal: AbortSignal | undefined,
): Promise<void> {
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

/**
 * Starts to measure the processor time of this process, in milliseconds: a busy machine takes the processor away now and
 * then, which the clock on the wall would count. Returns what reads it.
 */
export function startCpuTimer(): () => number {
  const since = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  };
}
