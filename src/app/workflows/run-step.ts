import { A_WORKFLOW, workflowOf } from '../../domain/actor.ts';
import { describeDefect, isRefusal } from '../../domain/errors.ts';
import type { PowerAction } from '../../domain/server.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import { MOST_RUNS_A_MINUTE, type RunOutcome, type WorkflowRun } from '../../domain/workflow-run.ts';
import type { Caller, UseCase } from '../authorize/use-case.ts';
import type { AppContext } from '../ports.ts';
import { carryOutStep, lockOf } from './carry-out-step.ts';
import { endRun } from './end-run.ts';
import { isDefect, outcomeOfError } from './run-outcome.ts';

/** The one entry (`authorize/entry.ts`), as far as it is needed here. */
export interface RunEntry {
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input, caller: Caller): Promise<Output>;
}

/** What a workflow wanted minutes ago may have been done by someone else since. */
const BEGIN_WITHIN_MS = 2 * MINUTE_MS;
/** The button of a card can be pressed for this long. */
export const ASK_MS = DAY_MS;

/** Does what a run that has arrived asks for. Never throws: every run ends, here or by `sweep-runs.ts`. */
export async function runStep(run: WorkflowRun, entry: RunEntry, app: AppContext): Promise<void> {
  try {
    const refused = await findRefusal(run, app);
    if (refused) await endRun(run, ['received'], refused, app);
    else if (run.key.kind === 'none') await ask(run, app);
    else await act(run, entry, app);
  } catch (error) {
    // The store fails: the run stays due.
    app.log.warn('a workflow step could not be run', { runId: run.id, ...describeDefect(error) });
  }
}

/** What is wrong with a run, before anything is looked up in Slack or with the hosting API. */
async function findRefusal(
  run: WorkflowRun,
  { system, workflowRuns }: AppContext,
): Promise<RunOutcome | undefined> {
  const now = system.now();
  if (now - run.receivedAt > BEGIN_WITHIN_MS) return { code: 'too_late', details: {} };
  const input = findBadInput(run);
  if (input) return { code: 'bad_input', details: { input } };
  const limit = { most: MOST_RUNS_A_MINUTE, withinMs: MINUTE_MS };
  const isAdmitted = await workflowRuns.admit(run, now, limit);
  return isAdmitted ? undefined : { code: 'too_many', details: { most: MOST_RUNS_A_MINUTE } };
}

function findBadInput({ action, label, key, channelId }: WorkflowRun) {
  if (action === undefined) return 'action';
  if (label === '') return 'server';
  return key.kind === 'none' && channelId === undefined ? 'channel' : undefined;
}

/** Posts the card. A crash between both of its halves leaves two cards of one run, which is carried out once. */
async function ask(run: WorkflowRun, app: AppContext): Promise<void> {
  const { locks, workflowRuns, workflowNotifier } = app;
  await locks.runIfFree(lockOf(run), async () => {
    const now = await workflowRuns.find(run.workspaceId, run.id);
    if (now?.state !== 'received') return;
    const posted = await workflowNotifier.ask(run);
    if ('card' in posted) await workflowRuns.ask(run, posted.card, run.receivedAt + ASK_MS);
    else await endRun(run, ['received'], { code: 'not_posted', details: posted }, app);
  });
}

async function act(run: WorkflowRun, entry: RunEntry, app: AppContext): Promise<void> {
  const { action } = run;
  if (action === undefined) return;
  try {
    await entry.execute(carryOutStep[action], { run }, callerOf(run));
  } catch (error) {
    // It is being carried out, or was, elsewhere.
    if (isRefusal(error, 'workflow_run_over')) return;
    if (isDefect(error)) logDefect(action, run, error, app);
    await endRun(run, ['received'], outcomeOfError(error, run), app);
  }
}

function logDefect(action: PowerAction, { id: runId }: WorkflowRun, error: unknown, { log }: AppContext) {
  log.error('a workflow step failed unexpectedly', { action, runId, ...describeDefect(error) });
}

/** A workflow is no user: it may do what its key says, and its key alone. */
function callerOf({ workspaceId, channelId, key }: WorkflowRun): Caller {
  const isKey = key.kind === 'key';
  const userId = isKey ? workflowOf(key.name) : A_WORKFLOW;
  return {
    actor: { workspaceId, userId, channelId },
    surface: 'workflow',
    workflowKeyId: isKey ? key.id : undefined,
  };
}
