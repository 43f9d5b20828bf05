import { describe, expect, it } from 'vitest';
import { parseManifest, readOwnManifest, withSteps } from '../../../src/sandbox/slack/manifest.ts';
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
  it('is offered only where the manifest has all that Slack demands', () => {
    const step = { title: 'x', description: 'x', input_parameters: {}, output_parameters: {} };
    const settings = {
      event_subscriptions: { bot_events: ['function_executed'] },
      org_deploy_enabled: true,
      function_runtime: 'remote',
    };
    const stepsOf = (more: Json) =>
      parseManifest(
        JSON.stringify({
          features: {},
          oauth_config: { scopes: {} },
          functions: { step },
          settings: { ...settings, ...more },
        }),
      ).steps.length;
    expect(stepsOf({})).toBe(1);
    expect(stepsOf({ org_deploy_enabled: false })).toBe(0);
    expect(stepsOf({ function_runtime: 'slack' })).toBe(0);
    expect(stepsOf({ event_subscriptions: { bot_events: [] } })).toBe(0);
    expect(readOwnManifest().steps).toEqual([]);
    expect(readOwnManifest('workflow').steps.map(({ id }) => id)).toEqual([STEP]);
  });

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

  it('fails with the words of the app, and at once where it is not acknowledged', async () => {
    const { slack, app } = await start();
    const run = await slack.runsWorkflow(STEP, INPUTS);
    const failed = { function_execution_id: run.id, error: 'No such server' };
    expect(await app.call('functions.completeError', failed)).toMatchObject({ ok: true });
    expect(run).toMatchObject({ state: 'failed', error: 'No such server' });
    app.reply = () => ({ status: 500 });
    const lost = await slack.runsWorkflow(STEP, INPUTS);
    expect(lost.state).toBe('failed');
    expect(await complete(app, lost.id, OUTPUTS, lost.token)).toMatchObject({ error: 'token_revoked' });
  });

  it('is run from a page that shows how it ends, and never what may be a key', async () => {
    const { slack, app } = await start();
    const form = new URLSearchParams({ step: STEP, ...INPUTS, key: 'canary-key', channel: '' });
    const post = (headers: Record<string, string> = {}) =>
      fetch(`${slack.url}/workflows`, { method: 'POST', body: form, headers });
    expect((await post({ origin: 'http://elsewhere.example' })).status).toBe(403);
    const running = await (await post()).text();
    expect(running).toContain('In progress</strong> reboot web-1');
    const [id = ''] = /Fx\w+/.exec(JSON.stringify(app.last().event)) ?? [];
    await complete(app, id);
    const ended = await (await fetch(`${slack.url}/workflows`)).text();
    expect(ended).toContain('web-1 was rebooted.');
    expect(running + ended).not.toContain('canary-key');
    form.delete('server');
    expect(await (await post()).text()).toContain('Server: required');
  });
});
