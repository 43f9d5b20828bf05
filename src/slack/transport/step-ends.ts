import type { StepEnd } from '../../app/workflows/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { StepOutputs } from '../kit/step.ts';
import type { SlackAnswer, SlackApi, SlackConnections } from './slack-api.ts';
import type { SlackClients } from './slack-clients.ts';

/** Which execution of our step is over. */
export interface EndedStep {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** What Slack gave for this run alone. */
  readonly token: Secret<string> | undefined;
}

/** `error` reaches users as it is: plain text without secrets. */
export type StepResult = { readonly outputs: StepOutputs } | { readonly error: string };

/** Tells Slack how a step ended; never throws. */
export type EndStep = (step: EndedStep, result: StepResult) => Promise<StepEnd>;

/** Slack's codes for outputs that are not those of the manifest. */
const BAD_OUTPUTS = ['parameter_validation_failed', 'invalid_arguments'];

/** Slack's codes after which no other try with that token can end the run. */
const HOPELESS = [
  'function_execution_not_found',
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'],
];

/**
 * How long the token of a run lives is not documented, nor whether it outlives a restart of the app: where it doesn't work,
 * the app's own one may.
 */
export function createEndStep(connections: Pick<SlackConnections, 'open'>, clients: SlackClients): EndStep {
  return async ({ workspaceId, executionId, token }, result) => {
    const ofRun = token && connections.open(async () => ({ token }));
    const ways = [...(ofRun ? [ofRun] : []), clients.of(workspaceId)];
    const errors: string[] = [];
    for (const slack of ways) {
      const answer = await send(slack, executionId, result);
      if (answer.ok || answer.error === 'execution_not_in_running_state') return 'told';
      if ('outputs' in result && BAD_OUTPUTS.includes(answer.error)) return 'refused_outputs';
      errors.push(answer.error);
    }
    const isGone = errors.at(-1) === 'function_execution_not_found';
    return isGone && errors.every((error) => HOPELESS.includes(error)) ? 'told' : 'later';
  };
}

function send(slack: SlackApi, executionId: string, result: StepResult): Promise<SlackAnswer> {
  return 'outputs' in result
    ? slack.completeStep(executionId, result.outputs)
    : slack.failStep(executionId, result.error);
}
