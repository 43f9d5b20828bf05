import { Refusal } from '../../domain/errors.ts';
import type { PowerAction } from '../../domain/server.ts';
import type { RunOutcome, WorkflowRun } from '../../domain/workflow-run.ts';
import { defineUseCase, type UseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { changePower } from '../servers/change-power.ts';
import { endRun } from './end-run.ts';
import { isAboutServer, outcomeOfChange, outcomeOfError } from './run-outcome.ts';

interface StepInput {
  readonly run: WorkflowRun;
}
type Context = UseCaseContext;

/** Other processes check a step that is being sent after this long, and leave it alone while this process is running. */
const SENT_DUE_MS = 15_000;

/**
 * Carries out the step of a run: by its workflow key, or by the user who pressed the button of its card, who need the same role
 * as for the command. The run is stored as sent before the request leaves, so that nothing is ever sent twice for it.
 * @throws Refusal `workflow_run_over`, `workflow_key_invalid`; and what the command throws
 */
export const carryOutStep: Readonly<Record<PowerAction, UseCase<StepInput, RunOutcome>>> = {
  start: defineStep('start'),
  stop: defineStep('stop'),
  reboot: defineStep('reboot'),
};

function defineStep(action: PowerAction): UseCase<StepInput, RunOutcome> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    subject: ({ run }: StepInput) => ({ label: run.label }),
    run: async ({ run }: StepInput, context): Promise<RunOutcome> => {
      let outcome: RunOutcome | undefined;
      const isFree = await context.app.locks.runIfFree(lockOf(run), async () => {
        outcome = await carryOut(action, run, context);
      });
      if (!isFree || !outcome) throw new Refusal('workflow_run_over', {});
      return outcome;
    },
  });
}

/** Held for as long as a living process carries the run out. */
export function lockOf({ id }: Pick<WorkflowRun, 'id'>): string {
  return `workflow run ${id}`;
}

async function carryOut(action: PowerAction, run: WorkflowRun, context: Context): Promise<RunOutcome> {
  const { app } = context;
  let isSent = false;
  const onSending = async () => {
    await markSent(run, context);
    isSent = true;
  };
  // A user waits, and was asked by the button whether to do it; a workflow was asked nothing.
  const isPress = run.key.kind === 'none';
  const urgency = isPress ? 'user' : 'background';
  const input = { ref: { exactly: run.label }, urgency, isSure: isPress, onSending } as const;
  try {
    const change = await changePower[action].run(input, context);
    const outcome = outcomeOfChange(change);
    await endRun(run, ['sent'], outcome, app, change.actId);
    return outcome;
  } catch (error) {
    const outcome = outcomeOfError(error, run, isSent);
    if (isSent) await endRun(run, ['sent'], outcome, app);
    else if (isAboutServer(outcome)) await endRun(run, ['asking'], outcome, app);
    throw error;
  }
}

/** @throws Refusal `workflow_run_over`, `workflow_key_invalid` */
async function markSent(run: WorkflowRun, { actor, app }: Context): Promise<void> {
  const now = app.system.now();
  const pressedBy = run.key.kind === 'none' ? actor.userId : undefined;
  const sent = await app.workflowRuns.send(run, { now, pressedBy, dueAt: now + SENT_DUE_MS });
  if (sent === 'key_gone') throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (sent === 'over') throw new Refusal('workflow_run_over', {});
}
