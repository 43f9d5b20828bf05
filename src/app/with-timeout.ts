import type { System } from '../system.ts';

/** Slack wants its answer within 3 s: what takes longer than this is sent later. */
const TIMEOUT_MS = 1200;

/** The result if it comes within the timeout (milliseconds), undefined if it does not. @throws what the work throws in time */
export async function withTimeout<Result>(
  work: Promise<Result>,
  system: System,
  timeoutMs = TIMEOUT_MS,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const late = system.sleep(timeoutMs, stop.signal).then(
    () => undefined,
    () => undefined,
  );
  // A failure after the timeout is handled by the code that awaits the work itself.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
