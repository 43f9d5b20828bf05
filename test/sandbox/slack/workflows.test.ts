import { describe, expect, it } from 'vitest';
import { readOwnManifest, withSteps } from '../../../src/sandbox/slack/manifest.ts';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import { type FakeApp, startBoth, TOKEN } from './support/fake-app.ts';

const STEP = 'power_action';
const INPUTS = { action: 'reboot', server: 'web-1' };
const OUTPUTS = { message: 'web-1 was rebooted.', server: 'web-1', state: 'running' };

const start = () => startBoth({ app: { manifest: withSteps(readOwnManifest()), ackTimeoutMs: 500 } });

const complete = (app: FakeApp, id: string, outputs: Json = OUTPUTS, token = TOKEN) =>
  app.call(
    'functions.completeSuccess',
    { function_execution_id: id, outputs: JSON.stringify(outputs) },
    token,
  );

describe('a step in a workflow', () => {
  it('can’t be run with inputs that Workflow Builder would not save', async () => {
    const { slack, app } = await start();
    for (const inputs of [{ action: 'stop' }, { ...INPUTS, extra: 'x' }, { ...INPUTS, channel: 'ops' }])
      await expect(slack.runsWorkflow(STEP, inputs)).rejects.toThrow('invalid_input');
    await expect(slack.runsWorkflow('other', INPUTS)).rejects.toThrow('unknown_step');
    expect(app.received).toEqual([]);
  });

  it('does not name who started it, and is completed once, by its own token or the app’s, with the outputs of the manifest', async () => {
    const { slack, app } = await start();
    const run = await slack.runsWorkflow(STEP, INPUTS);
    expect(JSON.stringify(app.last().event)).not.toMatch(/"user|U0/);
    expect(await complete(app, 'Fx0UNKNOWN')).toMatchObject({ error: 'function_execution_not_found' });
    expect(await app.errorOf('functions.completeSuccess', { function_execution_id: run.id })).toBe(
      'invalid_arguments',
    );
    for (const outputs of [{}, { ...OUTPUTS, more: 'x' }, { ...OUTPUTS, state: 1 }])
      expect(await complete(app, run.id, outputs)).toMatchObject({ error: 'parameter_validation_failed' });
    const other = await slack.runsWorkflow(STEP, INPUTS);
    expect(await complete(app, run.id, OUTPUTS, other.token)).toMatchObject({
      error: 'function_execution_not_found',
    });
    expect(await complete(app, run.id, OUTPUTS, run.token)).toMatchObject({ ok: true });
    expect(run).toMatchObject({ state: 'completed', outputs: OUTPUTS });
    expect(await complete(app, run.id)).toMatchObject({ error: 'execution_not_in_running_state' });
    expect(await complete(app, run.id, OUTPUTS, run.token)).toMatchObject({ error: 'token_revoked' });
    expect(await complete(app, other.id)).toMatchObject({ ok: true });
  });
});
