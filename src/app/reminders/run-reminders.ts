import { describeDefect } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import { findDueDigest } from './digest-schedule.ts';
import type { ReminderPorts } from './ports.ts';
import { type DueDigest, postDigest } from './post-digest.ts';
import { refreshDigest } from './refresh-digest.ts';

/** How often a live digest is compared with the account's list of servers. */
const READ_EVERY_MS = HOUR_MS;
/** What could not be posted or read is tried again after this time. */
const POST_AGAIN_MS = 10 * MINUTE_MS;
/** A message that Slack doesn't let us edit is tried again after this time. */
const EDIT_AGAIN_MS = MINUTE_MS / 2;
const MOST_AT_ONCE = 8;
/** Days older than this aren't looked up again. */
const KEPT_MS = 60 * DAY_MS;

/** The background's part in reminders. No method throws. */
export interface ReminderWork {
  /** Posts the digests whose hour has come. */
  postDue(): Promise<void>;
  /** Edits digests in which something has changed. */
  refresh(): Promise<void>;
  /** Removes what is not needed any more. */
  prune(): Promise<void>;
}

/** Remembers only what saves work: which digests are done is in the store. */
export function createReminderWork(ports: ReminderPorts, signal: AbortSignal): ReminderWork {
  const { system, digests, log } = ports;
  const safely = (work: Promise<void>) =>
    work.catch((error: unknown) => log.error('reminders failed', describeDefect(error)));
  const runAll: RunAll = async (all, run) => {
    const left = all.values();
    const worker = async () => {
      for (const each of left) if (!signal.aborted) await safely(run(each));
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, worker));
  };
  const pauses = createPauses(ports);
  const postDue = createPosting(ports, pauses, runAll);
  const refresh = createRefreshing(ports, pauses, runAll);
  const prune = async () => {
    await ports.reminders.removeMarksBefore(system.now() - KEPT_MS);
    await digests.removeBefore(system.now() - KEPT_MS);
  };
  return {
    postDue: () => safely(postDue()),
    refresh: () => safely(refresh()),
    prune: () => safely(prune()),
  };
}

/** Side by side: one account that doesn't answer must not hold up the others. A failure of one is logged. */
type RunAll = <Each>(all: readonly Each[], run: (each: Each) => Promise<void>) => Promise<void>;

function createPosting(ports: ReminderPorts, pauses: Pauses, runAll: RunAll): () => Promise<void> {
  const doneOn = new Map<WorkspaceId, string>();
  const post = async (due: DueDigest) => {
    pauses.start(`post ${due.workspaceId}`, POST_AGAIN_MS);
    const outcome = await postDigest(due, ports);
    if (outcome === 'done') doneOn.set(due.workspaceId, due.day);
    else if (outcome !== 'later') pauses.start(`post ${due.workspaceId}`, outcome.afterMs);
  };
  const isOpen = ({ workspaceId, day }: DueDigest) =>
    doneOn.get(workspaceId) !== day && !pauses.has(`post ${workspaceId}`);
  return async () => {
    const due: DueDigest[] = [];
    for (let page = await ports.digests.listWorkspaces(); page.length > 0; ) {
      const now = ports.system.now();
      due.push(...page.flatMap((each) => findDueDigest(each, now) ?? []).filter(isOpen));
      // Other requests go first: there may be thousands of workspaces.
      await ports.system.sleep(0);
      page = await ports.digests.listWorkspaces(page.at(-1)?.workspaceId);
    }
    await runAll(due, post);
  };
}

function createRefreshing(ports: ReminderPorts, pauses: Pauses, runAll: RunAll): () => Promise<void> {
  const { system, digests } = ports;
  const edit = async (workspaceId: WorkspaceId) => {
    pauses.start(`edit ${workspaceId}`, EDIT_AGAIN_MS);
    const { isCurrent } = await refreshDigest(workspaceId, ports);
    if (isCurrent) pauses.end(`edit ${workspaceId}`);
  };
  const read = async (workspaceId: WorkspaceId) => {
    pauses.start(`read ${workspaceId}`, POST_AGAIN_MS);
    await refreshDigest(workspaceId, ports, { readsList: true });
  };
  const isFree = (name: string) => (workspaceId: WorkspaceId) => !pauses.has(`${name} ${workspaceId}`);
  return async () => {
    await runAll((await digests.listChanged()).filter(isFree('edit')), edit);
    const unread = await digests.listUnread(system.now() - READ_EVERY_MS);
    await runAll(unread.filter(isFree('read')), read);
  };
}

type Pauses = ReturnType<typeof createPauses>;

/** What is not tried again before its time, on the monotonic clock. */
function createPauses({ system }: Pick<ReminderPorts, 'system'>) {
  const until = new Map<string, number>();
  return {
    has: (name: string) => (until.get(name) ?? Number.NEGATIVE_INFINITY) > system.elapsed(),
    start: (name: string, ms: number) => until.set(name, system.elapsed() + ms),
    end: (name: string) => until.delete(name),
  };
}
