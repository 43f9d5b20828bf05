import { withTimeout } from '../../app/with-timeout.ts';
import type { System } from '../../system.ts';

/** Slack takes no acknowledgment after that. */
const ACK_MS = 3000;

/** The envelopes that Slack waits for, by their IDs. */
export interface Unacknowledged {
  add(id: string): void;
  remove(id: string): void;
  /** Resolves when all have been acknowledged, or Slack does not wait for any of them. */
  settled(): Promise<void>;
}

export function createUnacknowledged(system: System): Unacknowledged {
  const since = new Map<string, number>();
  const waiting = new Set<() => void>();
  const forgetOld = () => {
    for (const [id, at] of since) if (system.elapsed() - at > ACK_MS) since.delete(id);
  };
  return {
    add: (id) => {
      forgetOld();
      since.set(id, system.elapsed());
    },
    remove: (id) => {
      since.delete(id);
      if (since.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    settled: async () => {
      forgetOld();
      if (since.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        waiting.add(resolve);
      });
      await withTimeout(empty, system, ACK_MS);
    },
  };
}
