import { isQuiet } from '../../domain/digest.ts';
import { type HostingError, isExpected, isRefusal, type Refusal } from '../../domain/errors.ts';
import { DAY_MS } from '../../domain/time.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { AppContext } from '../ports.ts';
import { waitForDigestLock } from './digest-lock.ts';
import { describeDigest } from './find-standings.ts';
import { makeContent } from './make-content.ts';
import type { DigestWorkspace, PostedDigest } from './ports.ts';
import { readAccount, type SeenAccount, toSnapshot } from './seen-account.ts';

/** A workspace's digest of one day. */
export interface DueDigest extends DigestWorkspace {
  readonly day: string;
  /** Its hour is long over: if the servers can't be read now either, a message says so. */
  readonly isLate: boolean;
}

/** `later`: it is still to be posted on that day. `afterMs`: Slack has had too many messages and takes it after so long. */
export type DigestOutcome = 'done' | 'later' | { readonly afterMs: number };

/**
 * Posts the digest of a day, at most once (docs/decisions/0022-one-digest-a-day.md): the list is read, the day is claimed
 * durably, and only then is anything sent to Slack. Where Slack says that it posted nothing, the claim is given back.
 */
export async function postDigest(due: DueDigest, app: AppContext): Promise<DigestOutcome> {
  const { workspaceId, day } = due;
  const outcome = await waitForDigestLock(workspaceId, app, async () => {
    if (await app.digests.isClaimed(workspaceId, day)) return 'done';
    if (!(await app.installations.isServed(workspaceId))) return 'later';
    const seen = await readAccount(workspaceId, app).catch((error: unknown) => {
      if (isExpected(error)) return error;
      throw error;
    });
    return 'list' in seen ? postSeen(due, seen, app) : postUnread(due, seen, app);
  });
  return outcome ?? 'later';
}

async function postSeen(due: DueDigest, seen: SeenAccount, app: AppContext): Promise<DigestOutcome> {
  const { workspaceId, day, digest: settings } = due;
  const { digests, reminderNotifier } = app;
  const content = await makeContent(workspaceId, day, settings, seen, app);
  const snapshot = toSnapshot(seen);
  if (!(await digests.claim(workspaceId, day, seen.at))) return 'done';
  if (isQuiet(content)) {
    await digests.endQuietly(workspaceId, day, { isRead: true, snapshot });
    return 'done';
  }
  const live = { workspaceId, day, content, postedAt: seen.at };
  const shown = await describeDigest(live, app);
  const posted = await reminderNotifier.post(workspaceId, settings.channelId, shown);
  if (posted.kind !== 'posted') return endUnposted(due, posted, app);
  const before = await digests.markPosted({ ...live, card: posted.card }, snapshot);
  // Its buttons would lead to another month sooner or later.
  if (before)
    await reminderNotifier.update(workspaceId, before.card, await describeDigest(before, app), {
      isOver: true,
    });
  return 'done';
}

/** Reminders that don't come because of a revoked key look like no reminders: the channel gets one message that day. */
async function postUnread(
  due: DueDigest,
  error: HostingError | Refusal,
  app: AppContext,
): Promise<DigestOutcome> {
  const { workspaceId, day, digest, isLate } = due;
  app.log.warn('the servers could not be read for a digest', { workspaceId, cause: error.code });
  // A workspace that was never connected, or was disconnected on purpose, expects no digest.
  if (!isLate || isRefusal(error, 'no_api_key')) return 'later';
  if (!(await app.digests.claim(workspaceId, day, app.system.now()))) return 'done';
  const posted = await app.reminderNotifier.postUnreadable(workspaceId, digest.channelId, error);
  if (posted.kind !== 'posted') return endUnposted(due, posted, app);
  await app.digests.endQuietly(workspaceId, day, { isRead: false });
  return 'done';
}

async function endUnposted(
  { workspaceId, day, isLate, digest: { channelId } }: DueDigest,
  posted: Exclude<PostedDigest, { kind: 'posted' }>,
  app: AppContext,
): Promise<DigestOutcome> {
  if (posted.kind === 'unknown') {
    // It may stand in the channel: a second one would be worse than none.
    app.log.warn('it is not known whether a digest was posted', { workspaceId, day });
    return 'done';
  }
  await app.digests.release(workspaceId, day);
  const { reason, retryAfterMs: afterMs } = posted;
  // Too many messages in the channel are no fault of its settings, unless it goes on.
  if (afterMs === undefined || isLate) await tellOwners(workspaceId, day, channelId, reason, app);
  return afterMs === undefined ? 'later' : { afterMs };
}

/** Once a day, whatever is tried again until then. */
async function tellOwners(
  workspaceId: string,
  day: string,
  channelId: string,
  reason: string,
  app: AppContext,
): Promise<void> {
  const { seenRequests, system, reminderNotifier } = app;
  const id = `digest_undelivered:${workspaceId}:${day}:${channelId}`;
  if (!(await seenRequests.addFirst(id, system.now() + 2 * DAY_MS))) return;
  const owners = await listOwners(workspaceId, app);
  await reminderNotifier.notifyUndelivered(workspaceId, channelId, reason, owners);
}
