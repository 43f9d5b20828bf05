import { describeDefect } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import { findDueDigest } from './digest-schedule.ts';
import { type DueDigest, postDigest } from './post-digest.ts';

/** What could not be posted or read is tried again after this time. */
const POST_AGAIN_MS = 10 * MINUTE_MS;
const MOST_AT_ONCE = 8;
/** Days older than this aren't looked up again. */
const KEPT_MS = 60 * DAY_MS;

/** The background's part in reminders. No method throws. */
export interface ReminderWork {
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
