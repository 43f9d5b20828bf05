import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { monotonicFactory } from 'ulid';

/** The only source of time, IDs and randomness, so that tests can hold the clock (docs/design.md 7.5). */
export interface System {
  /** Wall clock in epoch milliseconds, for what is stored and shown. */
  now(): number;
  /** Monotonic clock in milliseconds from an arbitrary start, for what is measured and waited for. */
  elapsed(): number;
  /** Waits this many milliseconds on the monotonic clock; rejects with an AbortError if the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A ULID that is greater than every earlier one of this system, even if the clock is set back. */
  newId(): string;
  /** A URL-safe token of this many random bytes. */
  newToken(bytes: number): string;
  /** A number from 0 to 1, without 1. Not for secrets. */
  random(): number;
}

const RANDOM_STEPS = 2 ** 32;

export const realSystem: System = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, signal ? { signal } : {});
  },
  newId: createIds(
    () => Date.now(),
    () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
  ),
  newToken: (bytes) => randomBytes(bytes).toString('base64url'),
  random: () => Math.random(),
};

/**
 * Creates a maker of ULIDs from a clock (epoch ms) and random numbers from 0 to 1. IDs sort in the order in which they were made,
 * even within one millisecond and if the clock is set back.
 */
export function createIds(now: () => number, random: () => number): () => string {
  const next = monotonicFactory(random);
  return () => next(now());
}
