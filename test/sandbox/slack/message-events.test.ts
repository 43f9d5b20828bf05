import { describe, expect, it } from 'vitest';
import { APP, OTHER_TEAM, TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { startBoth } from './support/fake-app.ts';

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
  it('is sent to it, with a thread only where there is one', async () => {
    const both = await start();
    const operator = both.slack.as('otto').in('#ops');
    await operator.types('@vps reboot web-1');
    expect(eventsOf(both)[0]).toMatchObject({
      type: 'event_callback',
      team_id: TEAM.id,
      context_team_id: TEAM.id,
      event_id: expect.stringMatching(/^Ev/),
      is_ext_shared_channel: false,
      event: {
        type: 'app_mention',
        user: USERS.otto.id,
        text: `<@${APP.botUserId}> reboot web-1`,
        channel: 'C0OPS00001',
        user_team: TEAM.id,
      },
    });
    expect(lastEvent(both)).not.toHaveProperty('thread_ts');
    const root = operator.messages().at(-1)?.ts ?? '';
    await operator.thread(root).types('and @vps help');
    expect(lastEvent(both)).toMatchObject({ type: 'app_mention', thread_ts: root });
  });

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

  it('that is edited comes as a change', async () => {
    const both = await start();
    const operator = both.slack.as('otto').in('dm');
    await operator.types('reboot web-1');
    await operator.edits('reboot', 'reboot web-2');
    expect(lastEvent(both)).toMatchObject({
      subtype: 'message_changed',
      message: { text: 'reboot web-2' },
      previous_message: { text: 'reboot web-1' },
    });
    expect(lastEvent(both)).not.toHaveProperty('user');
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
    const ephemeral = { channel: 'C0OPS00001', user: USERS.otto.id, thread_ts, text: 'only for you' };
    expect(await app.call('chat.postEphemeral', ephemeral)).toMatchObject({ ok: true });
    operator.thread(thread_ts).doesNotSee('only for you');
    await app.call('chat.postMessage', { channel: 'C0OPS00001', thread_ts, text: 'a reply' });
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
    const { ts: reply } = await app.call('chat.postMessage', {
      channel: 'C0OPS00001',
      text: 'x',
      thread_ts: root,
    });
    await app.call('chat.postEphemeral', {
      channel: 'C0OPS00001',
      user: USERS.otto.id,
      text: 'x',
      thread_ts: reply,
    });
    expect(slack.brokenRules().map(({ rule }) => rule)).toEqual(['reply_as_thread']);
  });
});

describe('an alert of another app', () => {
  it('is shown with its attachments, and handed on whole by a message shortcut', async () => {
    const shortcuts = [{ callbackId: 'manage', name: 'Manage', type: 'message' }] as const;
    const { slack, app } = await start({ shortcuts });
    const attachments = [{ title: 'Disk full', fields: [{ title: 'Host', value: 'web-1' }], fallback: 'no' }];
    const ts = await slack.posts('#ops', { attachments });
    const operator = slack.as('otto').in('#ops');
    await operator.sees('│ Disk full │ Host: web-1');
    operator.doesNotSee('no');
    await operator.usesMessageShortcut('manage', 'Disk full');
    expect(app.last()).toMatchObject({
      type: 'message_action',
      message_ts: ts,
      message: { subtype: 'bot_message', bot_id: 'B0DEPLOYER', text: '', attachments },
    });
  });
});

describe('a message with a file, or by /me', () => {
  it('is an event with a subtype', async () => {
    const both = await start();
    const viewer = both.slack.as('vera').in('dm');
    await viewer.types('list', { file: 'disk.png' });
    expect(lastEvent(both)).toMatchObject({
      ...{ type: 'message', subtype: 'file_share', channel_type: 'im', text: 'list' },
      files: [{ name: 'disk.png' }],
    });
    await viewer.types('/me list');
    expect(lastEvent(both)).toMatchObject({ type: 'message', subtype: 'me_message', text: 'list' });
    await viewer.types('list');
    expect(lastEvent(both)).not.toHaveProperty('subtype');
  });

  it('by /me is not possible in a thread', async () => {
    const both = await start();
    const ts = await both.slack.posts('#ops', { text: 'an alert' });
    const typing = both.slack.as('otto').in('#ops').thread(ts).types('/me list');
    await expect(typing).rejects.toThrow('not supported in threads');
  });
});
