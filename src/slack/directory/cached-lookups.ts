import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../app/with-timeout.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';

/** Long enough to spare Slack, short enough for a revoked role to stop counting soon. */
const GOOD_FOR_MS = 5 * MINUTE_MS;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_GOOD_FOR_MS = 30_000;
/** A submission has to be answered within 3 s: what Slack has not said by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_CACHED = 10_000;

/** While Slack limits us, an answer counts for this long: after that, a revoked role might still count. */
const LAST_GOOD_FOR_MS = 15 * 60_000;

/** Slack does not answer because it was asked too often; it will again after this time. */
export class RateLimited {
  readonly forMs: number;

  constructor(forMs = FAILURE_GOOD_FOR_MS) {
    this.forMs = forMs;
  }
}

interface Good<Answer> {
  readonly answer: Answer;
  /** When it was asked for, on the monotonic clock. */
  readonly at: number;
}

interface Entry<Answer> {
  readonly answer: Promise<Answer | undefined>;
  /** On the monotonic clock; infinite while Slack has not answered. */
  until: number;
  good: Good<Answer> | undefined;
}

/** What Slack says: the answer, undefined when it can't be had, or that Slack wants to be asked later. */
export type Lookup<Answer> = Promise<Answer | RateLimited | undefined>;

/**
 * Asks Slack by key and caches the answer for five minutes or `goodForMs`, a failure (undefined) for half a minute. While
 * Slack limits us, the last good answer goes on counting, except for those who want a fresh one. Callers that ask for the
 * same key at the same time share one request, also those who want a fresh answer; each waits 2 s at most, and a later
 * answer is cached for the next one.
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Lookup<Answer>,
  system: System,
  goodForMs = GOOD_FOR_MS,
): (key: string, isFresh?: boolean) => Promise<Answer | undefined> {
  // By size: a cache with a number of entries makes room for all of them at the start, which takes milliseconds.
  const entries = new LRUCache<string, Entry<Answer>>({ maxSize: MOST_CACHED, sizeCalculation: () => 1 });
  return (key, isFresh = false) => {
    let entry = entries.get(key);
    const isAnswered = entry !== undefined && entry.until !== Number.POSITIVE_INFINITY;
    if (!entry || entry.until <= system.elapsed() || (isFresh && isAnswered)) {
      entry = begin(ask(key), system, goodForMs, isFresh ? undefined : entry?.good);
      entries.set(key, entry);
    }
    return entry.until === Number.POSITIVE_INFINITY
      ? withTimeout(entry.answer, system, WAIT_MS)
      : entry.answer;
  };
}

function begin<Answer>(
  lookup: Lookup<Answer>,
  system: System,
  goodForMs: number,
  good: Good<Answer> | undefined,
): Entry<Answer> {
  const at = system.elapsed();
  const read = (found: Answer | RateLimited | undefined): Answer | undefined => {
    const now = system.elapsed();
    if (found instanceof RateLimited) {
      entry.until = now + found.forMs;
      return entry.good && now - entry.good.at < LAST_GOOD_FOR_MS ? entry.good.answer : undefined;
    }
    entry.until = found === undefined ? now + FAILURE_GOOD_FOR_MS : at + goodForMs;
    if (found !== undefined) entry.good = { answer: found, at };
    return found;
  };
  const failed = (error: unknown): never => {
    entry.until = system.elapsed() + FAILURE_GOOD_FOR_MS;
    throw error;
  };
  const entry: Entry<Answer> = { answer: lookup.then(read, failed), until: Number.POSITIVE_INFINITY, good };
  entry.answer.catch(() => undefined);
  return entry;
}
