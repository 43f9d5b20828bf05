import type { System } from '../system.ts';

/** Slack wants its answer within 3 s: what takes longer than this comes later. */
const SOON_MS = 1200;

/** The result if it comes soon, undefined if it does not; throws what it throws soon. */
export async function withTimeout<Result>(
  work: Promise<Result>,
  system: System,
  soonMs = SOON_MS,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const late = system.sleep(soonMs, stop.signal).then(
    () => undefined,
    () => undefined,
  );
  // A failure that comes late is met by whoever awaits the work itself.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
