import { withTimeout } from '../../app/with-timeout.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';

/** Long enough to spare Slack, short enough for a role taken away to count soon. */
const GOOD_FOR_MS = 5 * MINUTE_MS;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_GOOD_FOR_MS = 30_000;
/** A submission has to be answered within 3 s: what Slack has not said by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_KEPT = 10_000;

interface Entry<Answer> {
  readonly answer: Promise<Answer | undefined>;
  /** On the monotonic clock; for ever while it is being asked. */
  until: number;
}

/**
 * Asks Slack by key and keeps what it says for five minutes, a failure (undefined) for half a minute. All who ask
 * meanwhile share one request; each waits for 2 s at most, and what comes later is kept for whoever asks next.
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Promise<Answer | undefined>,
  system: System,
): (key: string) => Promise<Answer | undefined> {
  const kept = new Map<string, Entry<Answer>>();
  return (key) => {
    const known = kept.get(key);
    const isGood = known !== undefined && known.until > system.elapsed();
    const entry = isGood ? known : begin(ask(key), system);
    if (!isGood) keep(key, entry, kept);
    return entry.until === Number.POSITIVE_INFINITY
      ? withTimeout(entry.answer, system, WAIT_MS)
      : entry.answer;
  };
}

function begin<Answer>(answer: Promise<Answer | undefined>, system: System): Entry<Answer> {
  const at = system.elapsed();
  const entry = { answer, until: Number.POSITIVE_INFINITY };
  const end = (found: Answer | undefined) => {
    entry.until = found === undefined ? system.elapsed() + FAILURE_GOOD_FOR_MS : at + GOOD_FOR_MS;
  };
  answer.then(end, () => end(undefined));
  return entry;
}

/** The oldest one makes room. */
function keep<Answer>(key: string, entry: Entry<Answer>, kept: Map<string, Entry<Answer>>): void {
  kept.delete(key);
  const oldest = kept.keys().next().value;
  if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(key, entry);
}
