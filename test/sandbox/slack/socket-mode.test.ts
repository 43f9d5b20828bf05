import { describe, expect, it } from 'vitest';
import { brokenRules } from './support/fake-app.ts';
import { askForUrl, connect, startSocketSlack } from './support/socket-app.ts';

describe('an address for a WebSocket', () => {
  it('is given for the app-level token with its scope, and for no other token', async () => {
    const slack = await startSocketSlack();
    expect(await askForUrl(slack)).toMatchObject({ ok: true, url: expect.stringMatching(/^ws:.*ticket=/) });
    expect(await askForUrl(slack, slack.app.botToken)).toMatchObject({ error: 'not_allowed_token_type' });
    expect(await askForUrl(slack, 'xapp-other')).toMatchObject({ error: 'invalid_auth' });
    expect(await askForUrl(slack, '')).toMatchObject({ error: 'not_authed' });
    slack.app.appTokenScopes = [];
    expect(await askForUrl(slack)).toMatchObject({ error: 'missing_scope', needed: 'connections:write' });
  });
});

describe('a WebSocket of the app', () => {
  it('must acknowledge in time, each envelope by its ID, and an event without a payload', async () => {
    const slack = await startSocketSlack({ events: ['app_uninstalled'], ackTimeoutMs: 50 });
    const app = await connect(slack);
    app.answer = () => undefined;
    await slack.as('olga').types('/vps list');
    await slack.as('olga').sees('operation_timeout');
    expect(brokenRules(slack)).toEqual(['late_ack']);
    // Too late is ignored: it was reported then.
    app.send({ envelope_id: app.envelopes()[0]?.envelope_id });
    app.send({ envelope_id: 'made up' });
    app.send('no JSON');
    await expect.poll(() => brokenRules(slack)).toEqual(['late_ack', 'bad_ack', 'bad_ack']);
    app.answer = ({ envelope_id }) => app.send({ envelope_id, payload: { text: 'no' } });
    await slack.uninstallApp();
    expect(brokenRules(slack).filter((rule) => rule === 'bad_ack')).toHaveLength(3);
  });

  it('gets an event again that it did not acknowledge, with the reason', async () => {
    const slack = await startSocketSlack({
      events: ['app_uninstalled'],
      eventRetryDelaysMs: [0],
      ackTimeoutMs: 50,
    });
    const app = await connect(slack);
    app.answer = () => undefined;
    await slack.uninstallApp();
    await expect
      .poll(() => app.envelopes().map(({ retry_attempt, retry_reason }) => [retry_attempt, retry_reason]))
      .toEqual([
        [0, ''],
        [1, 'timeout'],
      ]);
  });
});
