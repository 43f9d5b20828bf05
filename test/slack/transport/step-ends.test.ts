import { expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { createEndStep } from '../../../src/slack/dispatch-events.ts';
import { clientsOf, partialSlack } from '../support/partial-slack.ts';

const STEP = { workspaceId: 'T1', executionId: 'Fx1' };
const OUTPUTS = { outputs: { message: 'done', server: 'web-1', state: 'running' } };

/** What Slack answers to the token of the run, and to the app's own one. */
const endWith = (ofRun: string, own: string, token = true) => {
  const slack = (error: string) => ({ completeStep: async () => ({ ok: false, error }) as const });
  const end = createEndStep({ open: () => partialSlack(slack(ofRun)) }, clientsOf(slack(own)));
  return end({ ...STEP, token: token ? new Secret('xwfp-1') : undefined }, OUTPUTS);
};

it('a workflow’s step that isn’t found with the app’s own token is retried, since the run’s token may still end it', async () => {
  expect(await endWith('ratelimited', 'function_execution_not_found')).toBe('later');
  expect(await endWith('ECONNRESET', 'function_execution_not_found')).toBe('later');
});

it('a workflow’s step that Slack doesn’t find with any token is given up', async () => {
  expect(await endWith('function_execution_not_found', 'function_execution_not_found')).toBe('told');
  expect(await endWith('', 'function_execution_not_found', false)).toBe('told');
  expect(await endWith('token_expired', 'function_execution_not_found')).toBe('told');
  expect(await endWith('function_execution_not_found', 'internal_error')).toBe('later');
});
