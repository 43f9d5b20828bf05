import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../app/with-timeout.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';

/** Long enough to spare Slack, short enough for a revoked role to stop counting soon. */
const CACHED_MS = 5 * MINUTE_MS;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_CACHED_MS = 30_000;
/** A submission has to be answered within 3 s: what Slack has not said by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_CACHED = 10_000;

/** While Slack limits us, an answer counts for this long: after that, a revoked role might still count. */
const LAST_GOOD_MS = 15 * 60_000;

/** Slack does not answer because it was asked too often; it will again after this time. */
export class RateLimited {
  readonly forMs: number;

  constructor(forMs = FAILURE_CACHED_MS) {
    this.forMs = forMs;
  }
}

/** For how long answers count, in milliseconds. */
export interface GoodFor {
  /** Default: five minutes. */
  readonly cachedMs?: number;
  /** For those who want a fresh answer, where Slack allows few requests. Default: not at all. */
  readonly freshMs?: number;
}

interface Good<Answer> {
  readonly answer: Answer;
  /** When it was asked for, on the monotonic clock. */
  readonly at: number;
}

/** Times are on the monotonic clock. */
interface Entry<Answer> {
  /** What the last request brought; undefined where it failed. */
  readonly answer: Promise<Answer | undefined>;
  /** Slack is asked again after that; infinite while it has not answered. */
  until: number;
  /** Slack limits us, and is asked by nobody before `until`. */
  isLimited: boolean;
  good: Good<Answer> | undefined;
}

/** What Slack says: the answer, undefined when it can't be had, or that Slack wants to be asked later. */
export type Lookup<Answer> = Promise<Answer | RateLimited | undefined>;

/**
 * Asks Slack by key and caches the answer, a failure (undefined) for half a minute. While Slack limits us, the last good
 * answer goes on counting for a quarter of an hour, except for those who want a fresh one. Callers that ask for the same
 * key at the same time share one request, also those who want a fresh answer; each waits 2 s at most, and a later answer
 * is cached for the next one.
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Lookup<Answer>,
  system: System,
  { cachedMs = CACHED_MS, freshMs = 0 }: GoodFor = {},
): (key: string, isFresh?: boolean) => Promise<Answer | undefined> {
  // By size: a cache with a number of entries makes room for all of them at the start, which takes milliseconds.
  const entries = new LRUCache<string, Entry<Answer>>({ maxSize: MOST_CACHED, sizeCalculation: () => 1 });
  const ageOf = ({ good }: Entry<Answer>) => (good ? system.elapsed() - good.at : Number.POSITIVE_INFINITY);
  const isDue = (entry: Entry<Answer>, isFresh: boolean) => {
    if (entry.until <= system.elapsed()) return true;
    const isPending = entry.until === Number.POSITIVE_INFINITY;
    return isFresh && !isPending && !entry.isLimited && ageOf(entry) >= freshMs;
  };
  return async (key, isFresh = false) => {
    let entry = entries.get(key);
    if (!entry || isDue(entry, isFresh)) {
      entry = begin(ask(key), system, cachedMs, entry?.good);
      entries.set(key, entry);
    }
    const isPending = entry.until === Number.POSITIVE_INFINITY;
    const answer = await (isPending ? withTimeout(entry.answer, system, WAIT_MS) : entry.answer);
    if (answer !== undefined || isFresh) return answer;
    return ageOf(entry) < (entry.isLimited ? LAST_GOOD_MS : cachedMs) ? entry.good?.answer : undefined;
  };
}

function begin<Answer>(
  lookup: Lookup<Answer>,
  system: System,
  cachedMs: number,
  good: Good<Answer> | undefined,
): Entry<Answer> {
  const at = system.elapsed();
  const read = (found: Answer | RateLimited | undefined): Answer | undefined => {
    const now = system.elapsed();
    if (found instanceof RateLimited) {
      Object.assign(entry, { until: now + found.forMs, isLimited: true });
      return undefined;
    }
    entry.until = found === undefined ? now + FAILURE_CACHED_MS : at + cachedMs;
    if (found !== undefined) entry.good = { answer: found, at };
    return found;
  };
  const failed = (error: unknown): never => {
    entry.until = system.elapsed() + FAILURE_CACHED_MS;
    throw error;
  };
  const answer = lookup.then(read, failed);
  const entry: Entry<Answer> = { answer, until: Number.POSITIVE_INFINITY, isLimited: false, good };
  answer.catch(() => undefined);
  return entry;
}
