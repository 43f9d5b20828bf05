import { createHash } from 'node:crypto';

/**
 * An encryption key in base64, the same for the same name. It is computed, since the app refuses keys that are easy to
 * guess.
 */
export function makeKey(name: string): string {
  return createHash('sha256').update(`a key of the tests: ${name}`).digest('base64');
}
