import type { AppContext } from '../context.ts';
import { type HostingError, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { listOwners } from '../core/permission.ts';
import { isDeleted } from '../core/server.ts';
import { DIGEST } from '../core/settings.ts';
import { addDays, HOUR_MS, localDay, MINUTE_MS, startOfHour } from '../core/time.ts';
import type { JobHandler } from '../db/jobs.ts';
import { describeDigest, isQuiet, makeContent } from './digest-content.ts';
import type { PostedDigest } from './digest-message.ts';
import type { DigestWorkspace, Snapshot } from './store.ts';

/** A post or a read that failed is tried again after this time. */
const POST_AGAIN_MS = 10 * MINUTE_MS;

/** Asks for the digest of each workspace that has a channel for it, as a change of its settings does. */
export async function askForDigests({ digests, jobStore, system }: AppContext): Promise<void> {
  for (const workspace of await digests.listWorkspaces()) {
    const { workspaceId } = workspace;
    const now = system.now();
    const dueAt = findDueDigest(workspace, now) ? now : findNextHour(workspace, now);
    await jobStore.add({ kind: DIGEST, key: workspaceId, workspaceId, dueAt });
  }
}

/** Asks for the newest digest of a workspace to be edited, so that it shows what was done about its servers. */
export async function editDigestSoon(workspaceId: WorkspaceId, app: AppContext): Promise<void> {
  await app.jobStore.add({ kind: DIGEST, key: workspaceId, workspaceId, dueAt: app.system.now() });
  app.jobs.nudge();
}

/**
 * Creates what posts and edits digests, by one job for each workspace, which only one process runs at a time. With a channel for
 * it, the job is due at its next hour.
 */
export function createDigestHandler(app: AppContext, signal: AbortSignal): JobHandler {
  return async ({ key: workspaceId }) => {
    const { digest } = await app.workspaces.readSettings(workspaceId);
    const now = app.system.now();
    const due = digest && findDueDigest({ workspaceId, digest }, now);
    if (!due || due.day <= (await app.digests.find(workspaceId)).day) {
      await editDigest(workspaceId, app);
      return digest && findNextHour({ workspaceId, digest }, now);
    }
    if (signal.aborted) return now;
    const outcome = await postDigest(due, app);
    if (outcome === 'done') return findNextHour(due, now);
    // The last one still shows what is done about its servers.
    await editDigest(workspaceId, app);
    return now + POST_AGAIN_MS;
  };
}

/** If the servers could not be read for this long, a message in the channel says so. */
const LATE_MS = HOUR_MS;

/**
 * The digest that is due in a workspace: today's, once its hour has come. One that was missed is made up for until the day is
 * over in its time zone, and never later. Undefined before the hour.
 */
export function findDueDigest(workspace: DigestWorkspace, now: number): DueDigest | undefined {
  const { hour, zone } = workspace.digest;
  const day = localDay(now, zone);
  const dueAt = startOfHour(day, hour, zone);
  return now < dueAt ? undefined : { ...workspace, day, isLate: now > dueAt + LATE_MS };
}

/** When the next digest is due that isn't yet. */
function findNextHour({ digest: { hour, zone } }: DigestWorkspace, now: number): number {
  const today = localDay(now, zone);
  const dueAt = startOfHour(today, hour, zone);
  return now < dueAt ? dueAt : startOfHour(addDays(today, 1), hour, zone);
}

interface DueDigest extends DigestWorkspace {
  readonly day: string;
  /** Its hour is long over: if the servers can't be read now either, a message says so. */
  readonly isLate: boolean;
}

/** `later`: still to be posted on that day. */
type DigestOutcome = 'done' | 'later';

/**
 * Posts the digest of a day, at most once (docs/decisions/0022-one-digest-a-day.md): the list is read, the day is claimed
 * durably, and only then is anything sent to Slack. If Slack says that it posted nothing, the claim is released.
 */
export async function postDigest(due: DueDigest, app: AppContext): Promise<DigestOutcome> {
  const { workspaceId } = due;
  if (!(await app.installations.isServed(workspaceId))) return 'later';
  const seen = await readAccount(workspaceId, app).catch((error: unknown) => {
    if (isExpected(error)) return error;
    throw error;
  });
  return 'list' in seen ? postSeen(due, seen, app) : postUnread(due, seen, app);
}

async function postSeen(due: DueDigest, seen: SeenAccount, app: AppContext): Promise<DigestOutcome> {
  const { workspaceId, day, digest: settings } = due;
  const { digests, reminderNotifier } = app;
  const { day: _, ...before } = await digests.find(workspaceId);
  const content = await makeContent(workspaceId, day, settings, seen, before, app);
  const live = { day, content };
  // Before the day is claimed: what can't be rendered is tried again.
  const post = reminderNotifier.prepare(
    workspaceId,
    settings.channelId,
    await describeDigest(workspaceId, live, app),
  );
  if (!(await digests.claim(workspaceId, day))) return 'done';
  const { isComplete } = content;
  const record = { ...before, lastAt: seen.at, isComplete, snapshot: toSnapshot(seen) ?? before.snapshot };
  // Servers that are due may be missing from an incomplete list. If every list is incomplete, it's enough to say so once.
  const isNews = !isComplete && before.isComplete !== false;
  if (isQuiet(content) && !isNews) {
    await digests.put(workspaceId, day, record);
    return 'done';
  }
  const posted = await post();
  if (posted.kind !== 'posted') return endUnposted(due, posted, app);
  await digests.put(workspaceId, day, { ...record, live: { ...live, card: posted.card } });
  return 'done';
}

/**
 * Reads the list of servers as background work, so that users come first.
 * @throws Refusal `no_api_key`, `key_unreadable`; HostingError
 */
async function readAccount(workspaceId: WorkspaceId, { apiKeys, hostingOf, system }: AppContext) {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  const hosting = hostingOf(held.key, workspaceId);
  const list = await hosting.fetchServers({ urgency: 'background' });
  return { account: hosting.account, list, at: system.now() };
}
export type SeenAccount = Awaited<ReturnType<typeof readAccount>>;

/** What the next digest compares with; undefined where the list was incomplete. */
function toSnapshot({ account, list, at }: SeenAccount): Snapshot | undefined {
  if (list.extent !== 'whole') return undefined;
  const servers = list.servers
    .filter((server) => !isDeleted(server))
    .map(({ id, label, state, paidUntil }) => ({ id, label, state, paidUntil }));
  return { account: account[0], at, servers };
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
  if (!(await app.digests.claim(workspaceId, day))) return 'done';
  const posted = await app.reminderNotifier.postUnreadable(workspaceId, digest.channelId, error);
  // The day stays claimed: the next digest reports what has happened since the last one that was read.
  return posted.kind === 'posted' ? 'done' : endUnposted(due, posted, app);
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
  const { reason } = posted;
  // Too many messages in the channel are no fault of its settings, unless this goes on.
  if (reason === 'ratelimited' && !isLate) return 'later';
  // Once a day, whatever is tried again until then.
  const id = `digest_undelivered:${workspaceId}:${day}:${channelId}`;
  if (await app.seenRequests.addFirst(id, app.system.now())) {
    const owners = await listOwners(workspaceId, app);
    await app.reminderNotifier.notifyUndelivered(workspaceId, channelId, reason, owners);
  }
  return 'later';
}

/** Edits the newest digest in Slack as it should be now. It is tried once. */
async function editDigest(workspaceId: WorkspaceId, app: AppContext): Promise<void> {
  const { live } = await app.digests.find(workspaceId);
  if (!live || !(await app.installations.isServed(workspaceId))) return;
  await app.reminderNotifier.update(workspaceId, live.card, await describeDigest(workspaceId, live, app));
}
