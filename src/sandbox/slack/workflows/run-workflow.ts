import { findChannel } from '../channels.ts';
import { sendEvent } from '../events.ts';
import type { Json } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';
import type { WorkflowRun } from './runs.ts';
import type { StepDefinition, StepParameter } from './step-definition.ts';

/** What only those who edit a workflow read. */
const SECRET_INPUTS = ['key'];

/**
 * Runs a workflow of one step, and resolves when the app has acknowledged or failed to. An app that doesn't acknowledge in time
 * has failed the step, as users of Slack saw it; the event comes again all the same.
 * @throws SlackRefusal unknown_step, invalid_input
 */
export async function runWorkflow(world: World, stepId: string, given: Json): Promise<WorkflowRun> {
  const step = world.app.steps.find(({ id }) => id === stepId);
  if (!step) throw new SlackRefusal('unknown_step', `The app offers no step ${stepId} in workflows`);
  const inputs = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const errors = findInputErrors(world, step, inputs);
  if (Object.keys(errors).length > 0)
    throw new SlackRefusal('invalid_input', Object.values(errors).join('; '), { errors });
  // Every user of the sandbox sees the traffic.
  for (const name of SECRET_INPUTS) world.journal.hideSecret(String(inputs[name] ?? ''));
  const run = world.workflowRuns.start(step, inputs);
  const delivery = await sendEvent(world, describeRun(run));
  if (delivery?.status !== 200 && run.state === 'running')
    world.workflowRuns.fail(run.id, 'The app didn’t acknowledge the step in time.');
  return run;
}

/** What Workflow Builder does not let a user save. */
function findInputErrors(world: World, { inputs }: StepDefinition, given: Json): Record<string, string> {
  const unknown = Object.keys(given).filter((name) => !inputs.some((input) => input.name === name));
  const wrong = inputs.flatMap((input) => {
    const problem = findProblem(world, input, given[input.name]);
    return problem === undefined ? [] : [[input.name, `${input.title}: ${problem}`] as const];
  });
  return Object.fromEntries([...unknown.map((name) => [name, `${name}: no such input`] as const), ...wrong]);
}

function findProblem(world: World, { type, isRequired }: StepParameter, value: unknown): string | undefined {
  if (value === undefined) return isRequired ? 'required' : undefined;
  if (typeof value !== 'string') return 'has to be text';
  if (type === 'slack#/types/channel_id' && findChannel(world.channels, value)?.id !== value)
    return 'has to be the ID of a channel';
  return undefined;
}

/** The event `function_executed` (Slack's page about it): it names neither the workflow nor who started it. */
function describeRun({ id, workflowId, step, inputs, token }: WorkflowRun): Json {
  const describe = ({ isRequired, ...parameter }: StepParameter) => ({
    ...parameter,
    is_required: isRequired,
  });
  return {
    type: 'function_executed',
    function: {
      id: `Fn${step.id.toUpperCase().replaceAll('_', '')}`,
      callback_id: step.id,
      title: step.title,
      description: step.description,
      type: 'app',
      input_parameters: step.inputs.map(describe),
      output_parameters: step.outputs.map(describe),
      app_id: APP.id,
      date_created: 1_700_000_000,
      date_updated: 1_700_000_000,
      date_deleted: 0,
    },
    inputs,
    function_execution_id: id,
    workflow_execution_id: workflowId,
    bot_access_token: token,
  };
}
