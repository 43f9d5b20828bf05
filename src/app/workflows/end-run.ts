import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { RunOutcome, RunState, WorkflowRun } from '../../domain/workflow-run.ts';
import type { AppContext } from '../ports.ts';

/** Another process reports it if this one has died by then. */
const TOLD_WITHIN_MS = 20_000;
const SHORTEST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 10 * MINUTE_MS;
/** After this long without Slack accepting the outcome, the step stays "in progress" there. */
const GIVE_UP_MS = DAY_MS;
/** Until then the message is as it was posted. */
const FIRST_LOOK_MS = 2000;

/**
 * Ends a run from one of these states, and notifies Slack and users. Does nothing if it has already ended. `actId`: the act whose
 * outcome will replace the message that the channel gets now.
 */
export async function endRun(
  run: WorkflowRun,
  from: readonly RunState[],
  outcome: RunOutcome,
  app: AppContext,
  actId?: string,
): Promise<void> {
  const { system, workflowRuns } = app;
  const isMine = await workflowRuns.end(run, from, outcome, system.now() + TOLD_WITHIN_MS);
  if (!isMine) return;
  // The one who pressed is known to the store alone.
  const ended = (await workflowRuns.find(run.workspaceId, run.id)) ?? { ...run, outcome };
  await Promise.all([tellSlack(ended, outcome, app), tellUsers(ended, outcome, app, actId)]);
}

/** Reports an outcome to Slack again that it hasn't accepted, and shows it on the card if it isn't there yet. */
export async function tellAgain(run: WorkflowRun, outcome: RunOutcome, app: AppContext): Promise<void> {
  await tellSlack(run, outcome, app);
  if (run.card) await tellUsers(run, outcome, app);
}

async function tellSlack(run: WorkflowRun, outcome: RunOutcome, app: AppContext): Promise<void> {
  const { workflowRuns, workflowNotifier, system, log } = app;
  const end = await workflowNotifier.end(run, outcome, await workflowRuns.findToken(run));
  if (end === 'told') return workflowRuns.markTold(run);
  const ageMs = Math.max(0, system.now() - run.receivedAt);
  if (ageMs > GIVE_UP_MS) {
    log.warn('Slack did not take the outcome of a workflow step', { runId: run.id });
    return workflowRuns.markTold(run);
  }
  const waitMs = Math.min(Math.max(ageMs / 2, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
  await workflowRuns.postpone(run, system.now() + Math.round(waitMs));
}

async function tellUsers(
  run: WorkflowRun,
  outcome: RunOutcome,
  { workflowNotifier, followedActs, system }: AppContext,
  actId?: string,
): Promise<void> {
  const message = await workflowNotifier.tell(run, outcome);
  if (actId === undefined) return;
  const now = system.now();
  if (message) await followedActs.place(actId, { message }, { now, dueAt: now + FIRST_LOOK_MS });
  else await followedActs.forget(actId);
}
