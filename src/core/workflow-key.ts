import type { UserId, WorkflowKeyId, WorkspaceId } from './ids.ts';
import type { PowerAction } from './server.ts';

/**
 * A workflow key: what an owner lets workflows do (docs/workflows.md). The secret itself is not part of it: it is shown once, and
 * only its hash is stored.
 */
export interface WorkflowKey {
  readonly id: WorkflowKeyId;
  readonly workspaceId: WorkspaceId;
  /** Unique in its workspace, in any letter case. */
  readonly name: string;
  /** The actions that it permits. */
  readonly actions: readonly PowerAction[];
  /** The pattern of the labels that it is for (`matchesPattern`); '' for all servers. */
  readonly pattern: string;
  readonly issuedBy: UserId;
  /** Epoch milliseconds, as in `until` and `lastUsedAt`. */
  readonly issuedAt: number;
  /** When it expires; absent if it doesn't. */
  readonly until?: number;
  /** When an action was last sent with it. */
  readonly lastUsedAt?: number;
}

/** The beginning of every key, by which scanners for leaked secrets, and people, recognize one. */
export const KEY_PREFIX = 'vpswf_';

/** The longest name of a key, in characters. */
export const MOST_KEY_NAME = 40;

/** Reads the typed name of a key: 1 to 40 letters, digits, spaces, `.`, `_` and `-`; undefined for anything else. */
export function findKeyName(typed: string): string | undefined {
  const name = typed.trim().replace(/\s+/g, ' ');
  const isPlain = /^[\p{L}\p{N} ._-]+$/u.test(name);
  return isPlain && [...name].length <= MOST_KEY_NAME ? name : undefined;
}

/** Whether a key has expired at a moment, in epoch milliseconds. */
export function isExpired({ until }: WorkflowKey, now: number): boolean {
  return until !== undefined && until <= now;
}
