import { createAuditPublisher, PUBLISH_MS } from './account/audit.ts';
import type { AppContext } from './context.ts';
import { auditRoles } from './core/audit-entry.ts';
import { type Entry, makeAuditEntry } from './core/entry.ts';
import { nameOfError } from './core/errors.ts';
import type { InstallationId } from './core/ids.ts';
import { THE_APP } from './core/roles.ts';
import { DIGEST } from './core/settings.ts';
import { DAY_MS, MINUTE_MS } from './core/time.ts';
import type { JobHandlers } from './db/jobs.ts';
import { INSTALLATION } from './installations/store.ts';
import { OPERATION } from './purchases/operation.ts';
import { createOperationHandler } from './purchases/pay.ts';
import { readSpilled, storeSpilled } from './purchases/spill.ts';
import { BATCH, createBatchHandler } from './reminders/batch.ts';
import { askForDigests, createDigestHandler } from './reminders/digest.ts';
import { createRequestHandler } from './requests/notify.ts';
import { REQUEST } from './requests/request.ts';
import { createFollower, FOLLOW } from './servers/follow.ts';
import { createStepRunner } from './workflows/run.ts';
import { RUN } from './workflows/store.ts';

/** The pause between two tries to store the jobs of a start, while the database takes nothing. */
const ASK_AGAIN_MS = 5000;

type BackgroundContext = AppContext & {
  /** Does the job of an installation. Absent where the app can't be installed by OAuth. */
  readonly watchInstallation?: ((id: InstallationId) => Promise<number | undefined>) | undefined;
};

/**
 * Does the work that no request waits for: continues confirmed orders that a crash interrupted, resolves unconfirmed ones, notifies
 * users, follows servers, posts digests, and expires requests. Runs until aborted; errors are logged.
 * Money effect: may send paid requests, each at most once (docs/design.md 4.7, 4.10).
 */
export async function runBackground(
  app: BackgroundContext,
  entry: Entry,
  signal: AbortSignal,
): Promise<void> {
  const publishHeads = createAuditPublisher(app);
  const periodic = createPeriodic(app, publishHeads);
  const { watchInstallation } = app;
  app.jobs.handle({
    ...periodic,
    ...(watchInstallation && { [INSTALLATION]: ({ key }) => watchInstallation(key) }),
    [OPERATION]: createOperationHandler(app),
    [REQUEST]: createRequestHandler(app),
    [FOLLOW]: createFollower(app),
    [BATCH]: createBatchHandler(app),
    [DIGEST]: createDigestHandler(app, signal),
    [RUN]: createStepRunner(entry, app),
  });
  const read = await readSpilled(app).catch((error: unknown) => {
    logTrouble(error, app);
    return [];
  });
  let spilled = await storeSpilled(read, app);
  const jobs = app.jobs.run(signal);
  for (let isAsked = false; !signal.aborted; ) {
    isAsked ||= await askFor(Object.keys(periodic), app);
    if (isAsked && spilled.length === 0) break;
    await app.system.sleep(isAsked ? MINUTE_MS : ASK_AGAIN_MS, signal).catch(() => undefined);
    spilled = await storeSpilled(spilled, app);
  }
  await jobs;
  await publishHeads().catch((error: unknown) => logTrouble(error, app));
}

/** The kinds of job of which there is one each, for all processes together, and how long after its end each is due again. */
function createPeriodic(app: BackgroundContext, publishHeads: () => Promise<void>): JobHandlers {
  const { system } = app;
  const every = (ms: number, work: () => Promise<void>) => async () => {
    await work();
    return system.now() + ms;
  };
  return {
    expire: every(MINUTE_MS, () => expire(app)),
    prune: every(DAY_MS, () => prune(app)),
    'publish heads': every(PUBLISH_MS, publishHeads),
  };
}

/** Asks for what is due at a start, too, whenever it was last done: settings may have changed. False if the database fails. */
async function askFor(kinds: readonly string[], app: AppContext): Promise<boolean> {
  try {
    const dueAt = app.system.now();
    for (const kind of kinds) await app.jobStore.add({ kind, key: 'all', workspaceId: '', dueAt });
    await askForDigests(app);
    app.jobs.nudge();
    return true;
  } catch (error) {
    logTrouble(error, app);
    return false;
  }
}

/**
 * Removes what has expired: passwords that were shown, temporary roles, and everything that is kept until a time. Requests have
 * jobs of their own.
 */
export async function expire(app: AppContext): Promise<void> {
  const now = app.system.now();
  await app.passwords.eraseExpired(now);
  await app.kept.removeExpired(now);
  await app.grants.removeEnded(now, ({ workspaceId, role, pattern, subjectId }) => {
    const details = auditRoles([{ role, pattern, subjectId }]);
    const act = { actorId: THE_APP, surface: 'background', action: 'access_ended', outcome: 'done' } as const;
    return makeAuditEntry(app, { ...act, workspaceId, details });
  });
}

/** How long workflow runs are kept: Slack retries an event for a day at most, and an unanswered run ends after two. */
const RUNS_KEPT_MS = 7 * DAY_MS;

/**
 * Removes what is no longer needed, and audit entries older than `AUDIT_KEEP_DAYS`; the chain stays verifiable
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md).
 */
async function prune(app: AppContext): Promise<void> {
  const now = app.system.now();
  await app.workflowRuns.removeBefore(now - RUNS_KEPT_MS);
  const { auditKeepDays } = app.settings;
  if (auditKeepDays !== undefined) await app.audit.prune(now - auditKeepDays * DAY_MS, now);
}

/** Logs failed work, which stays due. */
function logTrouble(error: unknown, { log }: AppContext): void {
  log.error('background work failed', { cause: nameOfError(error) });
}
