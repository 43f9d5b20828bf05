import type { WorkspaceId } from '../../domain/ids.ts';
import { localDay, startOfHour } from '../../domain/local-time.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { DigestWorkspace } from './ports.ts';
import type { DueDigest } from './post-digest.ts';

/** Digests of the same hour are spread over this time, so that they don't all ask the API at once. */
export const SPREAD_MS = 15 * MINUTE_MS;
/** If the servers could not be read for this long, a message in the channel says so. */
const LATE_MS = HOUR_MS;

/**
 * The digest that is due in a workspace: today's, once its hour has come. One that was missed is made up for until the day is
 * over in its time zone, and never later. Undefined before the hour.
 */
export function findDueDigest({ workspaceId, digest }: DigestWorkspace, now: number): DueDigest | undefined {
  const day = localDay(now, digest.zone);
  const dueAt = startOfHour(day, digest.hour, digest.zone) + delayOf(workspaceId);
  if (now < dueAt) return undefined;
  return { workspaceId, digest, day, isLate: now > dueAt + LATE_MS };
}

/** The same in every process, and different for most workspaces. */
function delayOf(workspaceId: WorkspaceId): number {
  let hash = 2166136261;
  for (const character of workspaceId) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  return (hash >>> 0) % SPREAD_MS;
}
