import { describe, expect, it } from 'vitest';
import { makeHandClock } from '../../../src/sandbox/slack/world.ts';
import { brokenRules, type FakeApp, type Reply, startBoth } from './support/fake-app.ts';

describe('the Web API', () => {
  it.each([
    ['users.info', { user: 'U0OWNER001' }, 'users:read'],
    ['users.list', {}, 'users:read'],
    ['usergroups.list', {}, 'usergroups:read'],
  ])('%s needs its scope', async (method, args, needed) => {
    const { slack, app } = await startBoth();
    expect(await app.call(method, args)).toMatchObject({
      ok: false,
      error: 'missing_scope',
      needed,
      provided: 'commands,chat:write',
    });
    expect(brokenRules(slack)).toEqual(['missing_scope']);
    slack.app.scopes = [needed];
    expect(await app.call(method, args)).toMatchObject({ ok: true });
  });

  it('answers only on a loopback name', async () => {
    const { slack } = await startBoth();
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(`${slack.url}/api/auth.test`, { headers: { host: 'evil.example' } }, (res) =>
        resolve(res.statusCode),
      ).end();
    });
    expect(status).toBe(403);
  });
});

const SCOPES = ['commands', 'chat:write', 'users:read', 'usergroups:read'];

async function start() {
  const clock = makeHandClock();
  const { slack, app } = await startBoth({ clock, app: { scopes: SCOPES } });
  const post = (channel: string) => app.call('chat.postMessage', { channel, text: 'hello' });
  return { slack, app, clock, post };
}

describe('what Slack takes in a minute', () => {
  it('is one message a second in each channel', async () => {
    const { clock, post, slack } = await start();
    expect(await post('C0OPS00001')).toMatchObject({ ok: true });
    expect(await post('C0OPS00001')).toMatchObject({ http_status: 429, error: 'ratelimited' });
    expect(await post('C0GENERAL1')).toMatchObject({ ok: true });
    clock.advance(1000);
    expect(await post('C0OPS00001')).toMatchObject({ ok: true });
    expect(slack.as('olga').messages()).toHaveLength(2);
  });

  it('counts a message to a user as one in their conversation with the app', async () => {
    const { post, slack } = await start();
    const { id } = slack.as('olga');
    expect(await post(id)).toMatchObject({ ok: true });
    expect(await post(`D${id.slice(1)}`)).toMatchObject({ error: 'ratelimited' });
  });

  it.each([
    ['usergroups.list', 20, {}],
    ['users.info', 100, { user: 'U0OWNER001' }],
  ])('is of %s, by its tier, %i calls, and more when the first is a minute old', async (method, most, args) => {
    const { app, clock } = await start();
    const call = () => app.call(method, args);
    for (let count = 0; count < most; count += 1) expect(await call()).toMatchObject({ ok: true });
    clock.advance(45_000);
    expect(await call()).toMatchObject({ http_status: 429, error: 'ratelimited' });
    clock.advance(15_000);
    expect(await call()).toMatchObject({ ok: true });
  });
});

/** An app that answers each try of an event in turn, and Slack's pauses shortened. */
async function startReplying(replies: readonly Reply[]) {
  const both = await startBoth({
    app: { events: ['app_uninstalled'], eventRetryDelaysMs: [0, 5, 5], ackTimeoutMs: 500 },
  });
  let tries = 0;
  both.app.reply = () => replies[tries++] ?? {};
  return both;
}

const triesOf = ({ received }: FakeApp) =>
  received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]);

describe('an event', () => {
  it('that is not acknowledged comes three times more, newly signed and with the same ID', async () => {
    const { slack, app } = await startReplying(Array.from({ length: 4 }, () => ({ status: 500 })));
    await slack.uninstallApp();
    await expect
      .poll(() => triesOf(app))
      .toEqual([
        [undefined, undefined],
        ['1', 'http_error'],
        ['2', 'http_error'],
        ['3', 'http_error'],
      ]);
    expect(new Set(app.received.map(({ content }) => content.event_id)).size).toBe(1);
    for (const { headers, body } of app.received)
      expect(headers['x-slack-signature']).toBe(
        slack.sign(body, String(headers['x-slack-request-timestamp'])),
      );
  });

  it.each([
    ['that is answered too late comes', { isSilent: true }, 0],
    ['may come, although it was acknowledged,', {}, 1],
  ])('%s again as if its answer had been late, until it is acknowledged', async (_what, reply, repeated) => {
    const { slack, app } = await startReplying([reply]);
    slack.faults.repeatEvents(repeated);
    await slack.uninstallApp();
    await expect
      .poll(() => triesOf(app))
      .toEqual([
        [undefined, undefined],
        ['1', 'http_timeout'],
      ]);
  });
});

it('users.list gives fewer users than were asked for, and the cursor of the next ones', async () => {
  const { app } = await startBoth({ app: { scopes: ['users:read'] } });
  const names: unknown[] = [];
  let cursor = '';
  do {
    const page = await app.call('users.list', { limit: 999, cursor });
    const members = page.members as { name: string }[];
    expect(members.length).toBeLessThanOrEqual(3);
    names.push(...members.map(({ name }) => name));
    cursor = (page.response_metadata as { next_cursor: string }).next_cursor;
  } while (cursor !== '');
  expect(names).toEqual(expect.arrayContaining(['olga', 'sam', 'finn', 'vps', 'alertmanager']));
  expect(new Set(names).size).toBe(names.length);
});
