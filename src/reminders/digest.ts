import type { AppContext } from '../context.ts';
import { describeDefect, type HostingError, isExpected, isRefusal, type Refusal } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { InFlight } from '../core/locks.ts';
import { listOwners } from '../core/permission.ts';
import { DAY_MS, HOUR_MS, localDay, MINUTE_MS, startOfHour } from '../core/time.ts';
import type { OperationNotifier } from '../purchases/ports.ts';
import type { BatchNotifier } from './batch.ts';
import { describeDigest, makeContent, readAccount, type SeenAccount, toSnapshot } from './digest-content.ts';
import type { DigestWorkspace, PostedDigest } from './ports.ts';
import { isQuiet } from './reminder.ts';

/** What could not be posted or read is tried again after this time. */
const POST_AGAIN_MS = 10 * MINUTE_MS;
const MOST_AT_ONCE = 8;
/** Days older than this aren't looked up again. */
const KEPT_MS = 60 * DAY_MS;

/** The background's part in reminders. No method throws. */
interface ReminderWork {
  /** Posts the digests whose hour has come. */
  postDue(): Promise<void>;
  /** Removes what is not needed any more. */
  prune(): Promise<void>;
}

/** Remembers only what saves work: which digests are done is in the store. */
export function createReminderWork(app: AppContext, signal: AbortSignal): ReminderWork {
  const { system, digests, log } = app;
  const safely = (work: Promise<void>) =>
    work.catch((error: unknown) => log.error('reminders failed', describeDefect(error)));
  const runAll: RunAll = async (all, run) => {
    const left = all.values();
    const worker = async () => {
      for (const each of left) if (!signal.aborted) await safely(run(each));
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, worker));
  };
  const postDue = createPosting(app, createPauses(app), runAll);
  const prune = async () => {
    await app.reminders.removeMarksBefore(system.now() - KEPT_MS);
    await digests.removeBefore(system.now() - KEPT_MS);
  };
  return {
    postDue: () => safely(postDue()),
    prune: () => safely(prune()),
  };
}

/** Side by side: one account that doesn't answer must not hold up the others. A failure of one is logged. */
type RunAll = <Each>(all: readonly Each[], run: (each: Each) => Promise<void>) => Promise<void>;

function createPosting(app: AppContext, pauses: Pauses, runAll: RunAll): () => Promise<void> {
  const doneOn = new Map<WorkspaceId, string>();
  const post = async (due: DueDigest) => {
    pauses.start(due.workspaceId, POST_AGAIN_MS);
    const outcome = await postDigest(due, app);
    if (outcome === 'done') doneOn.set(due.workspaceId, due.day);
    else if (outcome !== 'later') pauses.start(due.workspaceId, outcome.afterMs);
  };
  const isOpen = ({ workspaceId, day }: DueDigest) =>
    doneOn.get(workspaceId) !== day && !pauses.has(workspaceId);
  return async () => {
    const due: DueDigest[] = [];
    for (let page = await app.digests.listWorkspaces(); page.length > 0; ) {
      const now = app.system.now();
      due.push(...page.flatMap((each) => findDueDigest(each, now) ?? []).filter(isOpen));
      // Other requests go first: there may be thousands of workspaces.
      await app.system.sleep(0);
      page = await app.digests.listWorkspaces(page.at(-1)?.workspaceId);
    }
    await runAll(due, post);
  };
}

type Pauses = ReturnType<typeof createPauses>;

/** What is not tried again before its time, on the monotonic clock. */
function createPauses({ system }: AppContext) {
  const until = new Map<string, number>();
  return {
    has: (workspaceId: WorkspaceId) =>
      (until.get(workspaceId) ?? Number.NEGATIVE_INFINITY) > system.elapsed(),
    start: (workspaceId: WorkspaceId, ms: number) => until.set(workspaceId, system.elapsed() + ms),
  };
}

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
async function waitForDigestLock<Result>(
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

/** A workspace's digest of one day. */
interface DueDigest extends DigestWorkspace {
  readonly day: string;
  /** Its hour is long over: if the servers can't be read now either, a message says so. */
  readonly isLate: boolean;
}

/** `later`: it is still to be posted on that day. `afterMs`: Slack has had too many messages and takes it after so long. */
type DigestOutcome = 'done' | 'later' | { readonly afterMs: number };

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
  if (!(await seenRequests.addFirst(id, system.now()))) return;
  const owners = await listOwners(workspaceId, app);
  await reminderNotifier.notifyUndelivered(workspaceId, channelId, reason, owners);
}

/** Edits the newest digest in Slack, so that it shows what was done about its servers. It is tried once. */
export async function refreshDigest(workspaceId: WorkspaceId, app: AppContext): Promise<void> {
  await waitForDigestLock(workspaceId, app, async () => {
    const live = await app.digests.findLive(workspaceId);
    if (!live || !(await app.installations.isServed(workspaceId))) return true;
    const digest = await describeDigest(live, app);
    const edited = await app.reminderNotifier.update(workspaceId, live.card, digest);
    if (edited === 'gone') await app.digests.close(workspaceId, live.day);
    return true;
  });
}

type Notifiers = { readonly operationNotifier: OperationNotifier; readonly batchNotifier: BatchNotifier };

/**
 * The notifiers of renewals, which edit the digest of the workspace as well. Nobody waits for that: what is not edited, such
 * as after a crash, is shown by the next day's digest.
 */
export function createDigestEdits(app: AppContext) {
  const { operationNotifier, batchNotifier, log } = app;
  const edits = new InFlight();
  const edit = (workspaceId: WorkspaceId): void => {
    const work = refreshDigest(workspaceId, app).catch((error: unknown) =>
      log.warn('a digest could not be edited', { workspaceId, ...describeDefect(error) }),
    );
    void edits.add(work);
  };
  const notifiers: Notifiers = {
    operationNotifier: {
      ...operationNotifier,
      notify: async (operation, held, reported) => {
        const told = await operationNotifier.notify(operation, held, reported);
        if (operation.purchase.kind === 'renew') edit(operation.workspaceId);
        return told;
      },
    },
    batchNotifier: {
      notifyBatch: async (batch, results) => {
        const isTold = await batchNotifier.notifyBatch(batch, results);
        edit(batch.workspaceId);
        return isTold;
      },
    },
  };
  return { notifiers, drain: () => edits.drain() };
}
