import type { OnWait } from '../app/hosting-api.ts';
import { HostingError, Refusal } from '../domain/errors.ts';
import type { System } from '../system.ts';
import { NOTIFY_AFTER_MS } from './limit.ts';
import { RateLimitedError } from './refusals.ts';
import { sleepUnless } from './sleep.ts';

export interface RetryOptions {
  readonly system: System;
  /** Holds back all calls of the account for this long, in milliseconds. */
  readonly pause: (ms: number) => void;
  /** Ends every wait. */
  readonly closing: AbortSignal;
}

interface Policy {
  /** The longest wait before each further try; the actual one is random ("full jitter"). */
  readonly longestMs: readonly number[];
  /** No try starts later than this after the first failure. */
  readonly totalMs: number;
  /** The last try starts no earlier than this after the first failure. */
  readonly lastAfterMs: number;
}

const POLICIES = {
  // The service counts by the minute (docs/hosting-api.md 8): the last try starts when a whole one has passed.
  rate_limited: { longestMs: [2_000, 4_000, 8_000, 16_000, 5_000], totalMs: 75_000, lastAfterMs: 61_000 },
  not_sent: { longestMs: [500, 1_500, 3_000], totalMs: 5_000, lastAfterMs: 0 },
} as const satisfies Record<string, Policy>;

const MOST_RETRY_AFTER_MS = 60_000;
const JITTER_MS = 1_000;

/**
 * Retries only after the two failures that prove that nothing was done: `rate_limited` and `not_sent`.
 * Money effect: none; a call that may have been paid is never sent again.
 * @throws what the last try threw; Refusal `shutting_down` when the client closes during a wait
 */
export async function retry<Answer>(
  send: () => Promise<Answer>,
  onWait: OnWait | undefined,
  { system, pause, closing }: RetryOptions,
): Promise<Answer> {
  const failures = { rate_limited: newCount(), not_sent: newCount() };
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const code = findRetryable(error);
      if (!code) throw error;
      const waitMs = nextWait(POLICIES[code], failures[code], error, system);
      if (waitMs === undefined) throw error;
      if (code === 'rate_limited') pause(waitMs);
      if (waitMs >= NOTIFY_AFTER_MS) onWait?.({ estimateMs: waitMs });
      if (!(await sleepUnless(closing, waitMs, system))) throw new Refusal('shutting_down', {});
    }
  }
}

interface Count {
  tries: number;
  firstAt: number | undefined;
}

function newCount(): Count {
  return { tries: 0, firstAt: undefined };
}

function findRetryable(error: unknown): keyof typeof POLICIES | undefined {
  if (!(error instanceof HostingError) || error.moneyMoved !== 'no') return undefined;
  return error.code === 'rate_limited' || error.code === 'not_sent' ? error.code : undefined;
}

/** Milliseconds until the next try; undefined when there is no further one. */
function nextWait(policy: Policy, count: Count, error: unknown, system: System): number | undefined {
  const now = system.elapsed();
  count.firstAt ??= now;
  const longestMs = policy.longestMs[count.tries++];
  if (longestMs === undefined) return undefined;
  const isLast = count.tries === policy.longestMs.length;
  const earliest = isLast ? count.firstAt + policy.lastAfterMs : now;
  const requestedMs =
    error instanceof RateLimitedError ? parseRetryAfter(error.retryAfter, system.now()) : undefined;
  const waitMs =
    requestedMs === undefined
      ? Math.max(0, earliest - now) + system.random() * longestMs
      : requestedMs + system.random() * JITTER_MS;
  return now + waitMs - count.firstAt > policy.totalMs ? undefined : waitMs;
}

/** Reads seconds or a date (RFC 9110, section 10.2.3) as milliseconds from now; undefined when it is neither. */
function parseRetryAfter(written: string | undefined, now: number): number | undefined {
  if (written === undefined) return undefined;
  const ms = /^\d+$/.test(written.trim()) ? Number(written) * 1_000 : Date.parse(written) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS);
}
