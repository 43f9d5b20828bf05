import { createHash } from 'node:crypto';
import { LIMITS } from './limits.ts';

/** Begins a key that is a hash. Values that begin with it are hashed as well, so that no value looks like a key. */
const MARK = '~';

/**
 * A value as a menu or a button carries it: itself if Slack takes it, otherwise a hash of it. Each value has one key of its
 * own, which stays the same from day to day.
 */
export function shortKey(value: string): string {
  if (value.length <= LIMITS.optionValue && !value.startsWith(MARK)) return value;
  return `${MARK}${createHash('sha256').update(value).digest('base64url')}`;
}

/** Finds the value that a key stands for; undefined if it is not on offer any more. */
export function findByKey(values: readonly string[], key: string): string | undefined {
  return values.find((value) => shortKey(value) === key);
}

/** Whether it is a hash, which means nothing to users. */
export function isHashedKey(key: string): boolean {
  return /^~[\w-]{43}$/.test(key);
}
