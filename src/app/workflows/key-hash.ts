import { createHash } from 'node:crypto';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import { KEY_PREFIX } from '../../domain/workflow-key.ts';
import type { System } from '../../system.ts';

/** 192 bits: too many to be guessed, so that a plain hash hides them as well as a slow one. */
const KEY_BYTES = 24;

/** Makes a new workflow key. */
export function makeGrantKey({ newToken }: Pick<System, 'newToken'>): string {
  return `${KEY_PREFIX}${newToken(KEY_BYTES)}`;
}

/** What is stored of a key. The same key has another hash in another workspace, where it opens nothing. */
export function hashKey(key: Secret<string>, workspaceId: WorkspaceId): string {
  return createHash('sha256')
    .update(JSON.stringify(['workflow key', workspaceId, key.reveal()]))
    .digest('hex');
}
