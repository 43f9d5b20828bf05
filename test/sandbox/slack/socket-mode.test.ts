import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { brokenRules } from './support/fake-app.ts';
import { APP_TOKEN, askForUrl, connect, startSocketSlack } from './support/socket-app.ts';

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

  it('is not given for a token outside of the header, and the token opens nothing else', async () => {
    const slack = await startSocketSlack();
    const body = new URLSearchParams({ token: APP_TOKEN });
    const call = async (method: string) =>
      (await fetch(`${slack.apiUrl}${method}`, { method: 'POST', body })).json();
    expect(await call('apps.connections.open')).toMatchObject({ error: 'not_authed' });
    expect(await call('auth.test')).toMatchObject({ error: 'not_allowed_token_type' });
  });

  it('opens one WebSocket, once, and within half a minute', async () => {
    let now = 1_800_000_000_000;
    const slack = await startSocketSlack({}, { now: () => now });
    const { url } = await askForUrl(slack);
    const refusalOf = async (address: unknown) => {
      const [error] = await once(new WebSocket(String(address)), 'error');
      return String(error);
    };
    const first = new WebSocket(String(url));
    await once(first, 'message');
    expect(await refusalOf(url)).toContain('401');
    expect(await refusalOf(String(url).replace(/ticket=\w+/, 'ticket=made-up'))).toContain('401');
    const { url: old } = await askForUrl(slack);
    now += 31_000;
    expect(await refusalOf(old)).toContain('401');
    first.terminate();
  });
});

describe('a WebSocket of the app', () => {
  it('is greeted with how many there are; the eleventh is sent away', async () => {
    const slack = await startSocketSlack();
    for (let count = 1; count <= 10; count += 1) {
      const { messages } = await connect(slack);
      expect(messages[0]).toMatchObject({ type: 'hello', num_connections: count });
    }
    const { messages, socket } = await connect(slack);
    expect(messages[0]).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' });
    await once(socket, 'close');
    expect(slack.sockets.count).toBe(10);
  });

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

it('the end of a WebSocket comes with a reason where an admin turns Socket Mode off, and new ones are sent away', async () => {
  const slack = await startSocketSlack();
  const app = await connect(slack);
  slack.sockets.disable();
  await once(app.socket, 'close');
  expect(app.messages.at(-1)).toMatchObject({ type: 'disconnect', reason: 'link_disabled' });
  expect((await connect(slack)).messages[0]).toMatchObject({ reason: 'link_disabled' });
});
