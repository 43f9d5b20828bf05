import { describe, expect, it } from 'vitest';
import { button, modal, plain, section, startBoth, TOKEN, textInput } from './support/fake-app.ts';

const OPS = 'C0OPS00001';
const RANDOM = 'C0RANDOM01';
const BOARD = 'C0PRIVATE1';
const EVERYTHING = [
  'commands',
  'chat:write',
  'users:read',
  'usergroups:read',
  'team:read',
  'channels:read',
  'groups:read',
  'im:read',
  'im:write',
];

describe('the Web API', () => {
  it('takes forms and JSON, a header and a token field', async () => {
    const { slack } = await startBoth();
    const form = new URLSearchParams({
      token: TOKEN,
      channel: OPS,
      text: 'hi',
      blocks: JSON.stringify([section('as a form')]),
    });
    const answer = await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', body: form });
    expect(await answer.json()).toMatchObject({
      ok: true,
      channel: OPS,
      message: { text: 'hi', bot_id: 'B0VPSBOT01' },
    });
    await slack.as('vera').sees('as a form');
  });

  it('refuses callers without the token, with a wrong one, and methods it does not know', async () => {
    const { slack, app } = await startBoth();
    expect(await app.call('auth.test', {}, '')).toMatchObject({ ok: false, error: 'not_authed' });
    expect(await app.call('auth.test', {}, 'xoxb-other')).toMatchObject({ ok: false, error: 'invalid_auth' });
    expect(await app.call('chat.shout', {})).toMatchObject({ ok: false, error: 'unknown_method' });
    expect(await app.call('api.test', { foo: 'bar' }, '')).toMatchObject({ ok: true, args: { foo: 'bar' } });
    expect(await app.call('auth.test', {})).toMatchObject({
      ok: true,
      team_id: 'T0SANDBOX',
      user_id: 'U0VPSBOT01',
    });
    expect(slack.brokenLaws().map(({ law }) => law)).toEqual(['invalid_auth', 'unknown_method']);
  });

  it.each([
    ['users.info', { user: 'U0OWNER001' }, 'users:read'],
    ['users.list', {}, 'users:read'],
    ['usergroups.list', {}, 'usergroups:read'],
    ['usergroups.users.list', { usergroup: 'S0ONCALL01' }, 'usergroups:read'],
    ['team.info', {}, 'team:read'],
    ['conversations.open', { users: 'U0OWNER001' }, 'im:write'],
  ])('%s needs its scope', async (method, args, needed) => {
    const { slack, app } = await startBoth();
    expect(await app.call(method, args)).toMatchObject({
      ok: false,
      error: 'missing_scope',
      needed,
      provided: 'commands,chat:write',
    });
    expect(slack.brokenLaws().map(({ law }) => law)).toEqual(['missing_scope']);
    slack.app.scopes = EVERYTHING;
    expect(await app.call(method, args)).toMatchObject({ ok: true });
  });

  it('tells who is an admin, a guest, of another organisation', async () => {
    const { app } = await startBoth({ app: { scopes: EVERYTHING } });
    const user = async (id: string) => (await app.call('users.info', { user: id })).user;
    expect(await user('U0OWNER001')).toMatchObject({
      is_admin: true,
      is_restricted: false,
      team_id: 'T0SANDBOX',
    });
    expect(await user('U0GUEST001')).toMatchObject({ is_admin: false, is_restricted: true });
    expect(await user('U0STRANGER')).toMatchObject({ team_id: 'T0ACME0001', is_stranger: true });
    expect(await app.call('users.info', { user: 'U0NOONE' })).toMatchObject({ error: 'user_not_found' });
    expect(await app.call('usergroups.users.list', { usergroup: 'S0' })).toMatchObject({
      error: 'no_such_subteam',
    });
  });

  it('tells about channels according to their kind', async () => {
    const { slack, app } = await startBoth({ app: { scopes: ['channels:read'] } });
    expect(await app.call('conversations.info', { channel: 'C0SHARED01' })).toMatchObject({
      channel: { is_ext_shared: true, is_member: true },
    });
    expect(await app.call('conversations.info', { channel: BOARD })).toMatchObject({
      error: 'channel_not_found',
    });
    expect(await app.call('conversations.info', { channel: 'D0OWNER001' })).toMatchObject({
      error: 'missing_scope',
      needed: 'im:read',
    });
    expect((await app.call('conversations.members', { channel: OPS })).members).toContain('U0GUEST001');
    expect(await app.call('conversations.list', {})).toMatchObject({ channels: expect.any(Array) });
    slack.channel('#management')?.members.add('U0VPSBOT01');
    slack.app.scopes = EVERYTHING;
    expect(await app.call('conversations.info', { channel: BOARD })).toMatchObject({
      channel: { is_private: true },
    });
  });

  it('can be made slow, limited or failing', async () => {
    const { slack, app } = await startBoth();
    slack.faults.rateLimit('chat.postMessage', { times: 1, retryAfterSeconds: 7 });
    const answer = await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', body: '' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
    slack.faults.failMethod('chat.postMessage', 'fatal_error', 1);
    const args = { channel: OPS, text: 'x' };
    expect(await app.call('chat.postMessage', args)).toMatchObject({ ok: false, error: 'fatal_error' });
    slack.faults.slowDown('*', 30);
    const startedMs = performance.now();
    expect(await app.call('chat.postMessage', args)).toMatchObject({ ok: true });
    expect(performance.now() - startedMs).toBeGreaterThan(25);
  });

  it('answers only on a loopback name', async () => {
    const { slack } = await startBoth();
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(`${slack.url}/api/api.test`, { headers: { host: 'evil.example' } }, (res) =>
        resolve(res.statusCode),
      ).end();
    });
    expect(status).toBe(403);
  });
});

describe('posting', () => {
  it('needs the app in the channel, or a scope for all public ones', async () => {
    const { slack, app } = await startBoth();
    const post = (channel: string) => app.call('chat.postMessage', { channel, text: 'x' });
    expect(await post(RANDOM)).toMatchObject({ error: 'not_in_channel' });
    expect(await post(BOARD)).toMatchObject({ error: 'channel_not_found' });
    expect(await post('C0NOWHERE')).toMatchObject({ error: 'channel_not_found' });
    expect(await post('U0OWNER001')).toMatchObject({ ok: true, channel: 'D0OWNER001' });
    slack.app.scopes = ['chat:write', 'chat:write.public'];
    expect(await post(RANDOM)).toMatchObject({ ok: true });
    expect(await post(BOARD)).toMatchObject({ error: 'channel_not_found' });
  });

  it('refuses what is empty, too long, or against the rules of Block Kit, and says where', async () => {
    const { slack, app } = await startBoth();
    const post = (more: object) => app.call('chat.postMessage', { channel: OPS, ...more });
    expect(await post({})).toMatchObject({ error: 'no_text' });
    expect(await post({ text: 'x'.repeat(40_001) })).toMatchObject({ error: 'msg_too_long' });
    const long = Array.from({ length: 6 }, () => section('x'.repeat(2900)));
    expect(await post({ text: 'x', blocks: long })).toMatchObject({ error: 'msg_blocks_too_long' });
    expect(
      await post({ text: 'x', blocks: [{ type: 'header', text: plain('x'.repeat(151)) }] }),
    ).toMatchObject({
      error: 'invalid_blocks',
      response_metadata: { messages: [expect.stringContaining('[json-pointer:/blocks/0/text/text]')] },
    });
    expect(slack.as('olga').messages()).toEqual([]);
    expect(new Set(slack.brokenLaws().map(({ law }) => law))).toEqual(new Set(['limits']));
  });

  it('counts blocks without a text for notifications as a broken law', async () => {
    const { slack, app } = await startBoth();
    expect(await app.call('chat.postMessage', { channel: OPS, blocks: [section('x')] })).toMatchObject({
      ok: true,
    });
    expect(slack.brokenLaws().map(({ law }) => law)).toEqual(['no_text']);
  });

  it('changes and deletes what the app posted, and nothing else', async () => {
    const { slack, app } = await startBoth();
    const owner = slack.as('olga');
    const { ts } = await app.call('chat.postMessage', { channel: OPS, text: 'one' });
    expect(await app.call('chat.update', { channel: OPS, ts, text: 'two' })).toMatchObject({
      ok: true,
      text: 'two',
    });
    await owner.sees('two');
    expect(await app.call('chat.delete', { channel: OPS, ts })).toMatchObject({ ok: true });
    expect(await app.call('chat.update', { channel: OPS, ts, text: 'x' })).toMatchObject({
      error: 'message_not_found',
    });
    await owner.types('mine');
    const mine = owner.messages()[0]?.ts;
    expect(await app.call('chat.update', { channel: OPS, ts: mine, text: 'x' })).toMatchObject({
      error: 'cant_update_message',
    });
    expect(await app.call('chat.delete', { channel: OPS, ts: mine })).toMatchObject({
      error: 'cant_delete_message',
    });
  });

  it('tells whom a message pings, and that plain text pings nobody', async () => {
    const { slack, app } = await startBoth();
    const blocks = [
      { type: 'section', text: plain('<!channel> <@U0OWNER001>') },
      section('&lt;!here&gt; <@U0VIEWER01>'),
    ];
    await app.call('chat.postMessage', { channel: OPS, text: 'quiet', blocks });
    expect(slack.pings()).toEqual(['@vera']);
  });
});

describe('an ephemeral message', () => {
  const send = (app: Awaited<ReturnType<typeof startBoth>>['app'], channel: string, user: string) =>
    app.call('chat.postEphemeral', { channel, user, text: 'psst', blocks: [section('psst')] });

  it('is seen by its addressee only, and gone after a reload', async () => {
    const { slack, app } = await startBoth();
    await send(app, OPS, 'U0OWNER001');
    const owner = slack.as('olga');
    await owner.sees('only visible to you');
    slack.as('mara').doesNotSee('psst');
    owner.reloads();
    owner.doesNotSee('psst');
  });

  it('needs both the app and the person in the channel', async () => {
    const { app } = await startBoth();
    expect(await send(app, RANDOM, 'U0OWNER001')).toMatchObject({ error: 'not_in_channel' });
    expect(await send(app, BOARD, 'U0OWNER001')).toMatchObject({ error: 'channel_not_found' });
    expect(await send(app, OPS, 'U0STRANGER')).toMatchObject({ error: 'user_not_in_channel' });
    expect(await send(app, 'D0OWNER001', 'U0OWNER001')).toMatchObject({ ok: true });
  });

  it('can be neither changed nor deleted by its timestamp', async () => {
    const { app } = await startBoth();
    const { message_ts: ts } = await send(app, OPS, 'U0OWNER001');
    expect(await app.call('chat.update', { channel: OPS, ts, text: 'x' })).toMatchObject({
      error: 'message_not_found',
    });
    expect(await app.call('chat.delete', { channel: OPS, ts })).toMatchObject({ error: 'message_not_found' });
  });

  it('can be made to fail', async () => {
    const { slack, app } = await startBoth();
    slack.faults.failMethod('chat.postEphemeral', 'user_not_in_channel');
    expect(await send(app, OPS, 'U0OWNER001')).toMatchObject({ error: 'user_not_in_channel' });
  });
});

describe('a home tab', () => {
  it('is published for a person and opened by that person', async () => {
    const { slack, app } = await startBoth();
    app.reply = async ({ content, kind }) => {
      if (kind !== 'event') return {};
      const { user } = content.event as { user: string };
      await app.call('views.publish', {
        user_id: user,
        view: { type: 'home', blocks: [section('Welcome home')] },
      });
      return {};
    };
    const owner = slack.as('olga');
    await owner.opensHome();
    await owner.sees('Welcome home');
    expect(app.last()).toMatchObject({
      type: 'event_callback',
      team_id: 'T0SANDBOX',
      event: { type: 'app_home_opened', user: 'U0OWNER001', tab: 'home' },
    });
    const withAlert = { type: 'home', blocks: [{ type: 'alert', text: plain('no') }] };
    expect(await app.call('views.publish', { user_id: 'U0OWNER001', view: withAlert })).toMatchObject({
      error: 'invalid_arguments',
    });
    expect(
      await app.call('views.publish', { user_id: 'U0OWNER001', view: modal([textInput('x')]) }),
    ).toMatchObject({
      error: 'invalid_arguments',
    });
    const view = { type: 'home', blocks: [section('Again'), { type: 'actions', elements: [button('Go')] }] };
    expect(await app.call('views.publish', { user_id: 'U0OWNER001', view, hash: 'old' })).toMatchObject({
      error: 'hash_conflict',
    });
    await app.call('views.publish', { user_id: 'U0OWNER001', view });
    await owner.presses('Go');
    expect(app.last()).toMatchObject({
      type: 'block_actions',
      container: { type: 'view' },
      view: { type: 'home' },
    });
    expect(app.last().response_url).toBeUndefined();
  });
});
