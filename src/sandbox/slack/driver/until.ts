import type { Journal } from '../journal.ts';

/** How long a user looks for something before giving up: generous, since a busy machine is slow. */
export const PATIENCE_MS = 45_000;

/**
 * Waits until `look` finds something: looks now, and again after everything that happens.
 * @throws Error with the words of `complain`, after the deadline
 */
export function until<T>(
  journal: Journal,
  look: () => T | undefined,
  complain: () => string,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const seen = look();
  if (seen !== undefined) return Promise.resolve(seen);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error(complain()))), patienceMs);
    const stop = journal.onEvent(() => {
      try {
        const found = look();
        if (found !== undefined) settle(() => resolve(found));
      } catch (error) {
        settle(() => reject(error));
      }
    });
    function settle(end: () => void): void {
      clearTimeout(timer);
      stop();
      end();
    }
  });
}
