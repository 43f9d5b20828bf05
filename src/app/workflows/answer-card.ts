import { Refusal } from '../../domain/errors.ts';
import type { WorkflowRunId } from '../../domain/ids.ts';
import type { WorkflowRun } from '../../domain/workflow-run.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { endRun } from './end-run.ts';
import { ASK_MS } from './run-step.ts';

/**
 * Finds the run that a card asks about, for a user who may answer it.
 * @throws Refusal `workflow_run_over`, `role_needed`
 */
export const findAskingRun = defineUseCase({
  name: 'workflow_answer',
  needs: 'operator',
  effect: 'reads',
  run: (input: { runId: WorkflowRunId }, context) => getAsking(input.runId, context),
});

/** Ends a run without doing anything. @throws Refusal `workflow_run_over`, `role_needed` */
export const cancelRun = defineUseCase({
  name: 'workflow_cancel',
  needs: 'operator',
  effect: 'changes',
  run: async (input: { runId: WorkflowRunId }, context): Promise<WorkflowRun> => {
    const { actor, app } = context;
    const run = await getAsking(input.runId, context);
    await endRun(run, ['asking'], { code: 'canceled', details: { by: actor.userId } }, app);
    return run;
  },
});

async function getAsking(
  runId: WorkflowRunId,
  { actor, app, requireRoleFor, setSubject }: UseCaseContext,
): Promise<WorkflowRun> {
  const run = await app.workflowRuns.find(actor.workspaceId, runId);
  if (run?.key.kind !== 'none') throw new Refusal('workflow_run_over', {});
  setSubject({ label: run.label });
  await requireRoleFor(run.label);
  const isLate = app.system.now() > run.receivedAt + ASK_MS;
  if (run.state !== 'asking' || isLate) throw new Refusal('workflow_run_over', {});
  return run;
}
