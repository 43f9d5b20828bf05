import type { WorkspaceId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';

/** Longer than a read of the list, a post and its edit take; a process that dies loses it after that. */
const LEASE_MS = 5 * MINUTE_MS;

/** Does the work if nobody else is at work on this workspace's digest, and returns undefined otherwise. */
async function withDigestLock<Result>(
  workspaceId: WorkspaceId,
  { lockLeases, system }: AppContext,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const lock = { name: `digest ${workspaceId}`, owner: system.newId() };
  if (!(await lockLeases.take(lock, LEASE_MS))) return undefined;
  try {
    return await work();
  } finally {
    await lockLeases.release(lock);
  }
}

/** An edit takes a moment: a digest that is due waits for it rather than for its next try. */
const WAIT_MS = 250;
const TRIES = 60;

/**
 * Does the work on a workspace's digest, after waiting a while for the work of others on it; undefined if that took too long. It
 * only saves work. That a digest is posted once is left to its claim.
 */
export async function waitForDigestLock<Result>(
  workspaceId: WorkspaceId,
  app: AppContext,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 1; ; tries++) {
    const result = await withDigestLock(workspaceId, app, work);
    if (result !== undefined || tries === TRIES) return result;
    await app.system.sleep(WAIT_MS);
  }
}
