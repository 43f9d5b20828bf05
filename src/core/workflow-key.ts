import type { UserId, WorkflowKeyId, WorkspaceId } from './ids.ts';
import type { PowerAction } from './server.ts';

/**
 * What an owner lets workflows do with a key (docs/workflows.md). The key itself is not part of it: it is shown once, and
 * only its hash is stored.
 */
export interface WorkflowKey {
  readonly id: WorkflowKeyId;
  readonly workspaceId: WorkspaceId;
  /** Unique in its workspace, in any letter case; shown with the key's actions. */
  readonly name: string;
  readonly actions: readonly PowerAction[];
  /** Labels of the servers that it is for (`label-pattern.ts`); '' for all. */
  readonly pattern: string;
  readonly issuedBy: UserId;
  /** Epoch milliseconds; so with the next two. */
  readonly issuedAt: number;
  /** Absent when it doesn't expire. */
  readonly until?: number;
  /** When an action was last sent with it. */
  readonly lastUsedAt?: number;
}

/** What every key begins with, so that scanners for leaked secrets, and people who find one, can tell what it is. */
export const KEY_PREFIX = 'vpswf_';

export const MOST_KEY_NAME = 40;

/** Reads a typed name; undefined where it is empty, too long, or has characters that could spoil a line of the audit. */
export function findKeyName(typed: string): string | undefined {
  const name = typed.trim().replace(/\s+/g, ' ');
  const isPlain = /^[\p{L}\p{N} ._-]+$/u.test(name);
  return isPlain && [...name].length <= MOST_KEY_NAME ? name : undefined;
}

/** Whether a key still counts at a time, in epoch milliseconds. */
export function isExpired({ until }: Pick<WorkflowKey, 'until'>, now: number): boolean {
  return until !== undefined && until <= now;
}
