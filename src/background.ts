import { createAuditPublisher, PUBLISH_MS } from './account/audit.ts';
import type { AppContext } from './context.ts';
import { type AuditEntry, auditRoles } from './core/audit-entry.ts';
import { makeAuditEntry } from './core/entry.ts';
import { type Grant, THE_APP } from './core/roles.ts';
import { DAY_MS, MINUTE_MS } from './core/time.ts';
import { redrawHomes } from './home/redraw.ts';
import { createOperationHandler, type RoleCheck } from './purchases/due.ts';
import { OPERATION } from './purchases/operation.ts';
import { readSpilled, storeSpilled } from './purchases/spill.ts';
import { sweepBatches } from './reminders/batch.ts';
import { createReminderWork } from './reminders/digest.ts';
import { resumeDelete } from './requests/answer-approval.ts';
import { sweepRequests } from './requests/notify.ts';
import { createFollower } from './servers/follow.ts';
import { FOLLOW } from './servers/follow-store.ts';
import type { System } from './system.ts';
import { type RunEntry, sweepRuns } from './workflows/run.ts';

/** Pause between two looks for due operations in the ledger. */
const TICK_MS = 500;
const SWEEP_MS = MINUTE_MS;
/** Short enough, with the 30 s of a lease, for another process to take over a crashed one's work within a minute. */
const UNFINISHED_MS = 15_000;
/** Often enough: a token has hours left, and an uninstall is first checked when its event comes. */
const TOKENS_MS = MINUTE_MS;
const PRUNE_MS = DAY_MS;
/** Digests are due at an hour, so a few seconds don't matter. */
const DIGEST_MS = 15_000;
/** Half of the shortest time after which a workflow's outcome is sent again. */
const RUNS_MS = 2500;

type BackgroundContext = AppContext & {
  /** Absent where the app can't be installed by OAuth. */
  readonly watchTokens?: (() => Promise<void>) | undefined;
};

/**
 * Does the work that no request waits for: continues confirmed orders that a crash interrupted, resolves unconfirmed ones, notifies
 * users, follows servers, posts digests, and expires requests. Runs until aborted; errors are logged.
 * Money effect: may send paid requests, each at most once (docs/design.md 4.7, 4.10).
 */
export async function runBackground(
  app: BackgroundContext,
  roles: RoleCheck & RunEntry,
  signal: AbortSignal,
): Promise<void> {
  const { system } = app;
  const aside = startAside();
  const publishHeads = createAuditPublisher(app);
  const startedAt = system.now();
  let spilled = await storeSpilled(await readSpilledSafely(app), app);
  const unfinished = onceAtATime(() => sweepUnfinished(app, startedAt), app);
  const reminders = startReminders(app, signal);
  const tokens = onceAtATime(async () => app.watchTokens?.(), app);
  const runs = onceAtATime(() => sweepRuns(roles, app), app);
  app.jobs.handle({
    [OPERATION]: createOperationHandler(app, roles),
    [FOLLOW]: createFollower(app, roles),
  });
  const jobs = app.jobs.run(signal);
  const sweepIsDue = everyNow(SWEEP_MS, system);
  const tokensAreDue = everyNow(TOKENS_MS, system);
  const runsAreDue = everyNow(RUNS_MS, system);
  const unfinishedIsDue = everyNow(UNFINISHED_MS, system);
  const pruneIsDue = everyNow(PRUNE_MS, system);
  const publishIsDue = everyNow(PUBLISH_MS, system);
  while (!signal.aborted) {
    try {
      if (sweepIsDue()) {
        spilled = await storeSpilled(spilled, app);
        await sweep(app);
      }
      if (unfinishedIsDue()) unfinished.start();
      if (tokensAreDue()) tokens.start();
      if (runsAreDue()) runs.start();
      reminders.tick();
      if (publishIsDue()) await publishHeads();
      // A long audit takes a while, and outcomes must not wait for it.
      if (pruneIsDue()) aside.run(pruneAudit(app).catch((error: unknown) => logTrouble(error, app)));
    } catch (error) {
      logTrouble(error, app);
    }
    await system.sleep(TICK_MS, signal).catch(() => undefined);
  }
  const drains = [aside, unfinished, tokens, runs, reminders, { drain: () => jobs }];
  await Promise.all(drains.map((each) => each.drain()));
  await publishHeads().catch((error: unknown) => logTrouble(error, app));
}

function readSpilledSafely(app: BackgroundContext) {
  return readSpilled(app).catch((error: unknown) => {
    logTrouble(error, app);
    return [];
  });
}

/** Posts digests beside the loop, so that an account that doesn't answer doesn't hold it up. */
function startReminders(app: AppContext, signal: AbortSignal) {
  const { system } = app;
  const work = createReminderWork(app, signal);
  const jobs = [
    { isDue: everyNow(DIGEST_MS, system), job: onceAtATime(work.postDue, app) },
    { isDue: everyNow(PRUNE_MS, system), job: onceAtATime(work.prune, app) },
  ];
  return {
    tick: (): void => {
      for (const { isDue, job } of jobs) if (isDue()) job.start();
    },
    drain: () => Promise.all(jobs.map(({ job }) => job.drain())),
  };
}

/** Runs work that the loop doesn't wait for. */
function startAside() {
  const running = new Set<Promise<void>>();
  return {
    count: () => running.size,
    run: (work: Promise<void>): void => {
      const ended: Promise<void> = work.finally(() => running.delete(ended));
      running.add(ended);
    },
    drain: () => Promise.all(running),
  };
}

/** Starts work only if its last run has ended. Logs its failure, which nothing else catches. */
function onceAtATime(work: () => Promise<void>, app: AppContext) {
  let running: Promise<void> | undefined;
  return {
    start: (): void => {
      running ??= work()
        .catch((error: unknown) => logTrouble(error, app))
        .finally(() => {
          running = undefined;
        });
    },
    drain: () => running,
  };
}

/** Continues approvals, access requests and renewal batches. A failure of one kind doesn't stop the others. */
async function sweepUnfinished(app: BackgroundContext, startedAt: number): Promise<void> {
  const sweeps = [sweepRequests(app, startedAt, resumeDelete), sweepBatches(app)];
  await Promise.all(sweeps.map((each) => each.catch((error: unknown) => logTrouble(error, app))));
}

/** Logs failed work, which stays due. */
function logTrouble(error: unknown, { log }: AppContext): void {
  log.error('background work failed', { cause: error instanceof Error ? error.name : 'unknown' });
}

/** Creates a function that returns true the first time, and then once per period. */
function everyNow(periodMs: number, system: Pick<System, 'elapsed'>): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const isDue = system.elapsed() - lastAt >= periodMs;
    if (isDue) lastAt = system.elapsed();
    return isDue;
  };
}

/** How long handled requests are remembered: Slack's signatures are valid for five minutes before and after, plus a margin. */
const REPLAY_MS = 11 * MINUTE_MS;

/** How long workflow runs are kept: Slack retries an event for a day at most, and an unanswered run ends after two. */
const RUNS_KEPT_MS = 7 * DAY_MS;

/** Removes what has expired: stored passwords, links, reply paths, temporary roles. `sweepRequests` expires requests. */
export async function sweep(app: AppContext): Promise<void> {
  const { system } = app;
  const now = system.now();
  await app.passwords.eraseExpired(now);
  await app.replyUrls.removeExpired(now);
  await app.outcomeThreads.removeExpired(now);
  await app.actMessages.removeExpired(now);
  await app.connectLinks.removeExpired(now);
  await app.seenRequests.removeBefore(now - REPLAY_MS);
  await app.workflowRuns.removeBefore(now - RUNS_KEPT_MS);
  const ended = await app.grants.removeEnded(now, (grant) => auditOfEnd(grant, app));
  await redrawHomes(ended, app);
}

/**
 * Removes audit entries that are older than `AUDIT_KEEP_DAYS`; the chain stays verifiable
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md).
 */
async function pruneAudit(app: AppContext): Promise<void> {
  const { settings, system } = app;
  if (settings.auditKeepDays === undefined) return;
  const now = system.now();
  const by = { at: now, actorId: THE_APP, surface: 'background' } as const;
  await app.audit.prune(now - settings.auditKeepDays * DAY_MS, by);
}

function auditOfEnd({ workspaceId, role, pattern, subjectId }: Grant, app: AppContext): AuditEntry {
  return makeAuditEntry(app, {
    workspaceId,
    actorId: THE_APP,
    surface: 'background',
    action: 'access_ended',
    details: auditRoles([{ role, pattern, subjectId }]),
    outcome: 'done',
  });
}
