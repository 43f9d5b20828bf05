import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../app/with-timeout.ts';
import type { System } from '../../system.ts';

/** Long enough to spare Slack, short enough for a revoked role to stop counting soon. */
const GOOD_FOR_MS = 5 * 60_000;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_GOOD_FOR_MS = 30_000;
/** A submission has to be answered within 3 s: what Slack has not said by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_CACHED = 10_000;

interface Entry<Answer> {
  readonly answer: Promise<Answer | undefined>;
  /** On the monotonic clock; infinite while Slack has not answered. */
  until: number;
}

/**
 * Asks Slack by key and caches the answer for five minutes or `goodForMs`, a failure (undefined) for half a minute. Callers that ask for
 * the same key at the same time share one request; each waits 2 s at most, and a later answer is cached for the next one.
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Promise<Answer | undefined>,
  system: System,
  goodForMs = GOOD_FOR_MS,
): (key: string) => Promise<Answer | undefined> {
  const entries = new LRUCache<string, Entry<Answer>>({ max: MOST_CACHED });
  return (key) => {
    let entry = entries.get(key);
    if (!entry || entry.until <= system.elapsed()) {
      entry = begin(ask(key), system, goodForMs);
      entries.set(key, entry);
    }
    return entry.until === Number.POSITIVE_INFINITY
      ? withTimeout(entry.answer, system, WAIT_MS)
      : entry.answer;
  };
}

function begin<Answer>(
  answer: Promise<Answer | undefined>,
  system: System,
  goodForMs: number,
): Entry<Answer> {
  const at = system.elapsed();
  const entry = { answer, until: Number.POSITIVE_INFINITY };
  const end = (found: Answer | undefined) => {
    entry.until = found === undefined ? system.elapsed() + FAILURE_GOOD_FOR_MS : at + goodForMs;
  };
  answer.then(end, () => end(undefined));
  return entry;
}
