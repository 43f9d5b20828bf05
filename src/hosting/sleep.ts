import type { System } from '../system.ts';

/** Waits this many milliseconds on the monotonic clock; false if the signal fires first. */
export async function sleepUnless(signal: AbortSignal, ms: number, system: System): Promise<boolean> {
  const until = system.elapsed() + ms;
  // Timers may fire slightly early, which would break the guarantee of at least 60 s.
  for (let left = ms; left > 0; left = until - system.elapsed()) {
    if (signal.aborted) return false;
    try {
      await system.sleep(Math.ceil(left), signal);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
  return !signal.aborted;
}
