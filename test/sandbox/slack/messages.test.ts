import { describe, expect, it } from 'vitest';
import { APP, OTHER_TEAM, TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { brokenRules, plain, section, startBoth } from './support/fake-app.ts';

const OPS = 'C0OPS00001';
const RANDOM = 'C0RANDOM01';
const BOARD = 'C0PRIVATE1';

describe('posting', () => {
  it('needs the app in the channel, or a scope for all public ones', async () => {
    // Several messages in one second.
    const { slack, app } = await startBoth({ hasRateLimits: false });
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
    // Several messages in one second.
    const { slack, app } = await startBoth({ hasRateLimits: false });
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
    expect(new Set(brokenRules(slack))).toEqual(new Set(['limits']));
  });

  it('counts blocks without a text for notifications as a broken rule', async () => {
    const { slack, app } = await startBoth();
    expect(await app.call('chat.postMessage', { channel: OPS, blocks: [section('x')] })).toMatchObject({
      ok: true,
    });
    expect(brokenRules(slack)).toEqual(['no_text']);
  });

  it('lists whom a message pings; plain text pings no one', async () => {
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

  it('needs both the app and the user in the channel', async () => {
    const { app } = await startBoth();
    expect(await send(app, RANDOM, 'U0OWNER001')).toMatchObject({ error: 'not_in_channel' });
    expect(await send(app, BOARD, 'U0OWNER001')).toMatchObject({ error: 'channel_not_found' });
    expect(await send(app, OPS, 'U0STRANGER')).toMatchObject({ error: 'user_not_in_channel' });
    expect(await send(app, 'D0OWNER001', 'U0OWNER001')).toMatchObject({ ok: true });
  });

  it('can’t be changed by its timestamp', async () => {
    const { app } = await startBoth();
    const { message_ts: ts } = await send(app, OPS, 'U0OWNER001');
    expect(await app.errorOf('chat.update', { channel: OPS, ts, text: 'x' })).toBe('message_not_found');
  });
});

it('a home tab is for one user who exists, and for none of another organization', async () => {
  const { slack, app } = await startBoth();
  const view = { type: 'home', blocks: [section('Home')] };
  const publish = (fields: object) => app.call('views.publish', { view, user_id: 'U0OWNER001', ...fields });
  for (const id of ['', 'U0ABSENT01', 'U0FORMER01', 'D0OWNER001'])
    expect(await publish({ user_id: id })).toMatchObject({ error: 'invalid_arguments' });
  expect(await publish({})).toMatchObject({ ok: true });
  expect(await publish({ hash: 'old' })).toMatchObject({ error: 'hash_conflict' });
  expect(brokenRules(slack)).not.toContain('told_outsiders');
  await publish({ user_id: slack.as('sam').id });
  expect(brokenRules(slack)).toContain('told_outsiders');
});

const SUBSCRIBED = {
  events: ['app_mention', 'message.im'],
  scopes: ['commands', 'chat:write', 'app_mentions:read', 'im:history'],
};
const start = (app: object = {}) => startBoth({ app: { ...SUBSCRIBED, ...app } });
type Both = Awaited<ReturnType<typeof start>>;

const eventsOf = ({ app }: Both) =>
  app.received.map(({ content }) => content).filter(({ type }) => type === 'event_callback');
const lastEvent = (both: Both) => Object(eventsOf(both).at(-1)).event;

describe('a mention of the app', () => {
  it('comes again when it is edited, and says so', async () => {
    const both = await start();
    const operator = both.slack.as('otto').in('#ops');
    await operator.types('@vps reboot web-1');
    await operator.edits('reboot web-1', '@vps reboot web-2');
    const [first, second] = eventsOf(both).map(({ event }) => Object(event));
    expect(first).not.toHaveProperty('edited');
    expect(second).toMatchObject({ ts: first.ts, edited: { user: USERS.otto.id } });
    expect(second.text).toContain('web-2');
  });

  it('by a user of another organization names that organization', async () => {
    const both = await start();
    await both.slack.as('sam').in('#acme-shared').types('@vps list');
    expect(eventsOf(both)[0]).toMatchObject({
      team_id: OTHER_TEAM.id,
      context_team_id: TEAM.id,
      is_ext_shared_channel: true,
      event: { user: USERS.sam.id, team: TEAM.id, user_team: OTHER_TEAM.id, source_team: OTHER_TEAM.id },
    });
  });

  it('by another app has its bot ID', async () => {
    const both = await start();
    await both.slack.posts('#ops', { text: `<@${APP.botUserId}> reboot web-1` });
    expect(lastEvent(both)).toMatchObject({ type: 'app_mention', bot_id: 'B0DEPLOYER' });
  });

  it.each([
    ['where it is no member', '#random', SUBSCRIBED],
    ['without the scope', '#ops', { scopes: ['commands', 'chat:write'] }],
    ['without the subscription', '#ops', { events: [] }],
  ])('is not sent %s', async (_where, channel, app) => {
    const both = await start(app);
    const owner = both.slack.as('olga').in(channel);
    await owner.types('@vps list');
    await owner.types('/vps help');
    expect(eventsOf(both)).toEqual([]);
  });
});

describe('a direct message', () => {
  it('is sent to the app, and so are the app’s own', async () => {
    const both = await start();
    const operator = both.slack.as('otto').in('dm');
    await operator.types('reboot web-1');
    expect(lastEvent(both)).toMatchObject({
      type: 'message',
      channel_type: 'im',
      user: USERS.otto.id,
      team: TEAM.id,
      text: 'reboot web-1',
    });
    await both.app.call('chat.postMessage', { channel: USERS.otto.id, text: 'hello' });
    await expect
      .poll(() => lastEvent(both))
      .toMatchObject({ type: 'message', bot_id: APP.botId, text: 'hello' });
  });

  it('is not sent without the scope', async () => {
    const both = await start({ scopes: ['commands', 'chat:write', 'app_mentions:read'] });
    await both.slack.as('otto').in('dm').types('reboot web-1');
    expect(eventsOf(both)).toEqual([]);
  });
});

describe('a thread', () => {
  it('shows an ephemeral message only once it has a reply, as Slack’s page says', async () => {
    const { slack, app } = await start();
    const operator = slack.as('otto').in('#ops');
    await operator.types('web-1 is slow');
    const thread_ts = operator.messages().at(-1)?.ts ?? '';
    const ephemeral = { channel: OPS, user: USERS.otto.id, thread_ts, text: 'only for you' };
    expect(await app.call('chat.postEphemeral', ephemeral)).toMatchObject({ ok: true });
    operator.thread(thread_ts).doesNotSee('only for you');
    await app.call('chat.postMessage', { channel: OPS, thread_ts, text: 'a reply' });
    await app.call('chat.postEphemeral', ephemeral);
    await operator.thread(thread_ts).sees('only for you');
    operator.doesNotSee('only for you');
    expect(slack.brokenRules()).toEqual([]);
  });

  it('begins with a message that is no reply itself, and none of it is shown to the whole channel', async () => {
    const { slack, app } = await start();
    const post = (more: object) =>
      app.call('chat.postMessage', { channel: 'C0GENERAL1', text: 'x', ...more });
    const { ts: root } = await post({});
    const inOps = { channel: OPS, text: 'x' };
    const { ts: reply } = await app.call('chat.postMessage', { ...inOps, thread_ts: root });
    await app.call('chat.postEphemeral', { ...inOps, user: USERS.otto.id, thread_ts: reply });
    expect(brokenRules(slack)).toEqual(['reply_as_thread']);
  });
});
