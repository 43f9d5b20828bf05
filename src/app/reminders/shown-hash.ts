import { createHash } from 'node:crypto';
import type { Digest } from '../../domain/digest.ts';

/** Changes whenever the message has to be edited. */
export function hashShown(digest: Digest): string {
  return createHash('sha256').update(JSON.stringify(digest)).digest('hex').slice(0, 32);
}
