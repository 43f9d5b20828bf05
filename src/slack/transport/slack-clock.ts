import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';

/** Slack's clock, as far as we know it: messages carry its time, and our clock may be minutes off. */
export interface SlackClock {
  /** Takes the `Date` header of an answer that just arrived, and our time when the call was made. */
  noteAnswer(date: string | null, askedAt: number): void;
  /** Takes the time at which Slack signed a request. The request may have been delayed, so this is only a lower bound. */
  noteRequest(signedAt: number): void;
  /** Epoch milliseconds by Slack's clock, or by ours until Slack's is known. */
  now(): number;
  /** A sentence for the operator when our clock is off by a minute or more. */
  warnings(): readonly string[];
}

/** Calls to Slack end sooner. If one seems longer, the process froze or our clock was set, so the answer's age is unknown. */
const LONGEST_CALL_MS = 10_000;

export function createSlackClock(system: Pick<System, 'now'>): SlackClock {
  let aheadMs: number | undefined;
  return {
    noteAnswer: (date, askedAt) => {
      const at = Date.parse(date ?? '');
      const isNew = Math.abs(system.now() - askedAt) < LONGEST_CALL_MS;
      if (isNew && !Number.isNaN(at)) aheadMs = at - system.now();
    },
    noteRequest: (signedAt) => {
      const leastMs = signedAt - system.now();
      aheadMs = Math.max(aheadMs ?? leastMs, leastMs);
    },
    now: () => system.now() + (aheadMs ?? 0),
    warnings: () => {
      const offMs = aheadMs ?? 0;
      if (Math.abs(offMs) < MINUTE_MS) return [];
      const minutes = Math.round(Math.abs(offMs) / MINUTE_MS);
      const off = `${minutes} min ${offMs > 0 ? 'behind' : 'ahead of'} Slack’s`;
      return [`the app’s clock is ${off}: set the time on its machine (with PostgreSQL, on the database’s)`];
    },
  };
}
