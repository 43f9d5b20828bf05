import { describe, expect, it } from 'vitest';
import { parseManifest, readOwnManifest } from '../../../src/sandbox/slack/manifest.ts';
import { actions, button, modal, plain, section, startBoth, textInput } from './support/fake-app.ts';

const withoutHome = `
features:
  slash_commands:
    - { command: /servers, description: Servers }
oauth_config:
  scopes:
    bot: [commands, chat:write, users:read]
    bot_optional: [users:read, usergroups:read]
`;

describe('the manifest that the local Slack reads', () => {
  it('is the repository’s own, with both tabs and all its scopes, unless another one is handed over', () => {
    expect(readOwnManifest()).toMatchObject({ command: '/vps', hasHomeTab: true, hasMessagesTab: true });
    expect(parseManifest(withoutHome)).toEqual({
      command: '/servers',
      description: 'Servers',
      redirectUrls: [],
      rotatesTokens: false,
      usageHint: '',
      shouldEscape: false,
      shortcuts: [],
      steps: [],
      scopes: ['commands', 'chat:write', 'users:read'],
      hasHomeTab: false,
      hasMessagesTab: false,
      isMessagesTabReadOnly: true,
      events: [],
      isInteractive: false,
      hasMenuOptions: false,
      isSocketMode: false,
    });
    // Over WebSockets, menus need no address to get their options. An install by OAuth would need one.
    const overSockets = { isSocketMode: true, redirectUrls: [] };
    expect(readOwnManifest('socket')).toEqual({ ...readOwnManifest(), ...overSockets });
  });

  it('decides which command there is', async () => {
    const { slack } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    await slack.as('olga').types('/servers');
    await expect(slack.as('olga').types('/vps list')).rejects.toThrow('/vps is not a valid command');
  });

  it('decides which scopes there are: none that stands in the optional list alone', async () => {
    const manifest = parseManifest(withoutHome);
    const { slack, app } = await startBoth({ app: { manifest, scopes: manifest.scopes } });
    expect(await app.call('users.info', { user: slack.as('olga').id })).toMatchObject({ ok: true });
    expect(await app.call('usergroups.list', {})).toMatchObject({ error: 'missing_scope' });
  });

  it('lets no user write to the app, nor the app to any user, without a Messages tab', async () => {
    // Two messages in one second.
    const { slack, app } = await startBoth({
      hasRateLimits: false,
      app: { manifest: parseManifest(withoutHome) },
    });
    const user = slack.as('olga');
    for (const channel of [user.id, `D${user.id.slice(1)}`])
      expect(await app.call('chat.postMessage', { channel, text: 'hello' })).toMatchObject({
        error: 'messages_tab_disabled',
      });
    expect(slack.brokenRules().map(({ rule }) => rule)).toContain('messages_tab');
    await expect(user.in('dm').types('hello')).rejects.toThrow('has been turned off');
    expect(await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'hello' })).toMatchObject({
      ok: true,
    });
  });

  it('has no Home to open or publish when it says so', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    await expect(slack.as('olga').opensHome()).rejects.toThrow('no Home tab');
    const view = { type: 'home', blocks: [section('Home')] };
    const published = await app.call('views.publish', { user_id: slack.as('olga').id, view });
    expect(published).toMatchObject({ ok: false, error: 'not_enabled' });
    expect(slack.brokenRules().map(({ rule }) => rule)).toEqual(['home_tab']);
  });

  it('lets no command through without the scope that all commands need', async () => {
    const { slack, app } = await startBoth({ app: { scopes: ['chat:write'] } });
    await expect(slack.as('olga').types('/vps list')).rejects.toThrow('unknown_command');
    expect(app.received).toEqual([]);
  });

  it('has users and channels named by ID only when it says so', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    await slack.as('olga').types('/servers @otto & #ops');
    expect(app.last().text).toBe('@otto &amp; #ops');
    slack.app.shouldEscape = true;
    await slack.as('olga').types('/servers @otto & #ops');
    expect(app.last().text).toBe('<@U0OPERATOR> &amp; <#C0OPS00001|ops>');
  });
});

describe('events', () => {
  const subscribed = (...events: string[]) => `${withoutHome}
settings:
  event_subscriptions: { request_url: https://example.com, bot_events: [${events.join(', ')}] }`;

  it('reach the app only if the manifest subscribes to them', async () => {
    const manifest = parseManifest(subscribed('tokens_revoked'));
    const { slack, app } = await startBoth({ app: { manifest } });
    expect(await slack.uninstallApp()).toBeUndefined();
    expect(await slack.sendEvent({ type: 'tokens_revoked' })).toMatchObject({ status: 200 });
    expect(app.received.map(({ content }) => content.event)).toMatchObject([{ type: 'tokens_revoked' }]);
  });

  it('of messages and mentions need a scope, too', async () => {
    const manifest = parseManifest(subscribed('message.im', 'app_mention'));
    const { slack, app } = await startBoth({ app: { manifest, scopes: ['im:history'] } });
    await slack.sendEvent({ type: 'app_mention' });
    await slack.sendEvent({ type: 'message', channel_type: 'channel' });
    expect(app.received).toEqual([]);
    await slack.sendEvent({ type: 'message', channel_type: 'im' });
    expect(app.received).toHaveLength(1);
  });

  it('without a subscription leave an opened Home as it was', async () => {
    const withHome = withoutHome.replace('features:', 'features:\n  app_home: { home_tab_enabled: true }');
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withHome) } });
    await slack.as('olga').opensHome();
    expect(app.received).toEqual([]);
  });
});

describe('shortcuts', () => {
  const withShortcuts = `
features:
  slash_commands: [{ command: /servers, description: Servers }]
  shortcuts:
    - { name: New server, type: global, callback_id: new, description: Creates a server }
oauth_config: { scopes: { bot: [commands] } }
settings: { interactivity: { is_enabled: true } }`;

  it('are those that the manifest declares', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withShortcuts) } });
    await slack.as('olga').usesGlobalShortcut('new');
    expect(app.last()).toMatchObject({ type: 'shortcut', callback_id: 'new' });
    await expect(slack.as('olga').usesGlobalShortcut('old')).rejects.toThrow('unknown_shortcut');
  });

  it('don’t exist when it declares none', async () => {
    const { slack, app } = await startBoth();
    await expect(slack.as('olga').usesGlobalShortcut('new')).rejects.toThrow('unknown_shortcut');
    expect(app.received).toEqual([]);
  });

  it('need interactivity and the scope of commands', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withShortcuts) } });
    slack.app.isInteractive = false;
    await expect(slack.as('olga').usesGlobalShortcut('new')).rejects.toThrow('not_interactive');
    slack.app.isInteractive = true;
    slack.app.scopes = ['chat:write'];
    await expect(slack.as('olga').usesGlobalShortcut('new')).rejects.toThrow('unknown_shortcut');
    expect(app.received).toEqual([]);
  });
});

describe('an app whose manifest turns interactivity off', () => {
  it('gets no presses and no submissions', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    const olga = slack.as('olga');
    const blocks = [actions(button('Go'))];
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'x', blocks });
    await expect(olga.presses('Go')).rejects.toThrow('not_interactive');
    app.reply = async ({ content }) => {
      const view = modal([textInput('Name')], { notify_on_close: true });
      await app.call('views.open', { trigger_id: content.trigger_id, view });
      return {};
    };
    await olga.types('/servers');
    await olga.fills({ Name: 'web-1' });
    await expect(olga.submits()).rejects.toThrow('not_interactive');
    await olga.closes();
    expect(app.received.map(({ kind }) => kind)).toEqual(['command']);
  });

  it('is asked for no options, nor one without an address for them', async () => {
    const { slack, app } = await startBoth();
    slack.app.hasMenuOptions = false;
    const menu = {
      type: 'external_select',
      action_id: 'menu',
      placeholder: plain('Pick'),
      min_query_length: 0,
    };
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'x', blocks: [actions(menu)] });
    await expect(slack.as('olga').chooses('Pick', 'a')).rejects.toThrow('no_options');
    slack.app.hasMenuOptions = true;
    slack.app.isInteractive = false;
    await expect(slack.as('olga').chooses('Pick', 'a')).rejects.toThrow('not_interactive');
    expect(app.received).toEqual([]);
  });
});
