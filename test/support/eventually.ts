import { vi } from 'vitest';

/** vitest's default is one second, which a busy machine can exceed. What succeeds ends at once. */
const PATIENCE_MS = 45_000;

/** Repeats a check until it no longer throws, and returns its value. @throws its last error, after 45 s */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

/**
 * Waits until the condition is true. @throws after 45 s
 * @param intervalMs shorter for a condition that soon is false again
 */
export async function until(condition: () => boolean | Promise<boolean>, intervalMs = 10): Promise<void> {
  await vi.waitUntil(condition, { timeout: PATIENCE_MS, interval: intervalMs });
}
