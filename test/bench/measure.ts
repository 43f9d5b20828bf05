import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './processes.ts';

/** Waits until the process has nothing left to do; returns the CPU time it had used by then, microseconds. */
export async function settle(contender: Contender): Promise<number> {
  let used = await contender.cpuUs();
  for (let looks = 0; looks < 200; looks++) {
    await sleep(25);
    const now = await contender.cpuUs();
    if (now - used < 1500) return now;
    used = now;
  }
  throw new Error('a process does not come to rest');
}
