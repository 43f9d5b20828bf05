import { describeDefect } from '../../domain/errors.ts';
import type { WorkflowRun } from '../../domain/workflow-run.ts';
import type { AppContext } from '../ports.ts';
import { lockOf } from './carry-out-step.ts';
import { endRun, tellAgain } from './end-run.ts';
import { type RunEntry, runStep } from './run-step.ts';

/** A run that is being worked on is looked at again after this long. */
const AGAIN_MS = 15_000;
const MOST_AT_ONCE = 20;

/** Resumes the runs that a crash or a Slack outage has interrupted, and ends the unanswered ones. */
export async function sweepRuns(entry: RunEntry, app: AppContext): Promise<void> {
  const { system, workflowRuns, locks, log } = app;
  const due = await workflowRuns.listDue(system.now(), MOST_AT_ONCE);
  const goOn = async (run: WorkflowRun) => {
    await workflowRuns.postpone(run, system.now() + AGAIN_MS);
    // It takes the lock itself.
    if (run.state === 'received') return runStep(run, entry, app);
    await locks.runIfFree(lockOf(run), () => settle(run, app));
  };
  await Promise.all(
    due.map((run) =>
      goOn(run).catch((error: unknown) => {
        log.warn('a workflow step could not be continued', { runId: run.id, ...describeDefect(error) });
      }),
    ),
  );
}

/** The process that held the lock may have ended it since it was listed. */
async function settle({ workspaceId, id }: WorkflowRun, app: AppContext): Promise<void> {
  const run = await app.workflowRuns.find(workspaceId, id);
  switch (run?.state) {
    // Its request may have left, so it is never sent again, and its outcome is unknown.
    case 'sent':
      return endRun(run, ['sent'], { code: 'interrupted', details: {} }, app);
    case 'asking':
      return endRun(run, ['asking'], { code: 'not_pressed', details: {} }, app);
    case 'ended':
      return run.outcome && tellAgain(run, run.outcome, app);
    default:
  }
}
