import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';

/** Time, ids and randomness: the only door to them, so that tests can hold the clock (docs/design.md 7). */
export interface System {
  /** Wall clock, epoch milliseconds: for what is stored and shown. */
  now(): number;
  /** Monotonic clock, milliseconds from an arbitrary start: for what is measured and waited for. */
  elapsed(): number;
  /** Waits so many milliseconds of the monotonic clock; rejects with an AbortError when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A ULID: sorts by time, 80 random bits. */
  newId(): string;
  /** A URL-safe token of so many random bytes. */
  newToken(bytes: number): string;
  /** A number from 0 up to, but not including, 1. */
  random(): number;
}

/** The real thing. */
export const realSystem: System = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, signal ? { signal } : {});
  },
  newId: () => makeUlid(Date.now(), randomBytes(10)),
  newToken: (bytes) => randomBytes(bytes).toString('base64url'),
  random: () => Math.random(),
};

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Writes 48 bits of time and 80 random bits as the 26 characters of a ULID. */
export function makeUlid(now: number, random: Uint8Array): string {
  const bits = (BigInt(now) << 80n) | BigInt(`0x${Buffer.from(random).toString('hex')}`);
  return Array.from(
    { length: 26 },
    (_, place) => CROCKFORD[Number((bits >> BigInt(125 - place * 5)) & 31n)],
  ).join('');
}
