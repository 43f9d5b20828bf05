import { describe, expect, it } from 'vitest';
import { startBoth, TOKEN } from './support/fake-app.ts';

describe('what an attacker can try', () => {
  it('sends the identical signed request again', async () => {
    const { slack, app } = await startBoth();
    const delivery = await slack.as('olga').types('/vps list');
    if (!delivery) throw new Error('nothing was delivered');
    const again = await slack.redeliver(delivery);
    expect(again.status).toBe(200);
    const [first, second] = app.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['x-slack-signature']).toBe(first?.headers['x-slack-signature']);
    expect(slack.deliveries()).toHaveLength(2);
  });

  it('signs with another secret, or not at all, or alters a signed request', async () => {
    const { slack, app } = await startBoth();
    const fields = slack.commandFields('olga', '#ops', 'delete web-1');
    await slack.deliverSigned({ fields: { ...fields, team_id: 'T0OTHER' } });
    await slack.deliverForged({ fields });
    const body = new URLSearchParams(fields).toString();
    await slack.deliverRaw(body, { timestamp: '1', signature: slack.sign(body, '1') });
    await slack.deliverRaw(body, {});
    const [signed, forged, raw, bare] = app.received;
    const good = ({ body: text = '', headers = {} } = {}) =>
      slack.sign(text, String((headers as Record<string, unknown>)['x-slack-request-timestamp']));
    expect(signed?.headers['x-slack-signature']).toBe(good(signed));
    expect(signed?.content.team_id).toBe('T0OTHER');
    expect(forged?.headers['x-slack-signature']).not.toBe(good(forged));
    expect(raw?.headers['x-slack-request-timestamp']).toBe('1');
    expect(bare?.headers['x-slack-signature']).toBeUndefined();
  });
});

describe('the record', () => {
  it('holds every request in both directions, without secrets', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').types('/vps list');
    const url = String(app.last().response_url);
    await app.respond(url, { text: `see ${url}` });
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: `hello ${TOKEN}` });
    const traffic = slack.traffic();
    expect(traffic.map(({ from, what, status }) => [from, what, status])).toEqual([
      ['slack', 'command /vps list', 200],
      ['app', 'response_url', 200],
      ['app', 'chat.postMessage', 200],
    ]);
    const secret = url.split('/').at(-1) ?? '';
    expect(secret).toMatch(/^\w{20,}$/);
    expect(JSON.stringify(traffic)).not.toContain(secret);
    expect(JSON.stringify(traffic)).not.toContain(TOKEN);
    expect(JSON.stringify(traffic)).toContain('[masked]');
  });

  it('calls listeners until they stop', async () => {
    const { slack } = await startBoth();
    const seen: string[] = [];
    const leave = slack.onEvent(({ type }) => seen.push(type));
    await slack.as('olga').types('hello');
    leave();
    await slack.as('olga').types('more');
    expect(seen).toEqual(['message']);
  });

  it('takes events of the Events API by hand', async () => {
    const { slack, app } = await startBoth({ app: { events: ['app_uninstalled'] } });
    await slack.uninstallApp();
    expect(app.last()).toMatchObject({ type: 'event_callback', event: { type: 'app_uninstalled' } });
    expect(app.received[0]?.headers['content-type']).toBe('application/json');
  });
});

describe('an altered request', () => {
  it('carries the change under a good signature, and shows nothing in the workspace', async () => {
    const { slack, app } = await startBoth();
    const delivery = await slack.as('olga').types('/vps list');
    if (!delivery) throw new Error('nothing was delivered');
    app.reply = () => ({ body: 'for whoever asks' });
    const altered = await slack.deliverAltered(delivery, (fields) => ({ ...fields, user_id: 'U0NOBODY01' }));
    expect(altered).toMatchObject({ status: 200, response: 'for whoever asks' });
    expect(app.last()).toMatchObject({ user_id: 'U0NOBODY01', text: 'list' });
    expect(slack.as('nora').messages()).toEqual([]);
  });

  it('to an app that is down is no answer at all', async () => {
    const { slack } = await startBoth();
    slack.app.commandsUrl = 'http://127.0.0.1:9/slack/events';
    await slack.as('olga').types('/vps list');
    await slack.as('olga').sees('dispatch_failed');
    expect(slack.brokenRules().map(({ rule }) => rule)).toEqual(['bad_ack']);
  });
});
