import { describe, expect, it } from 'vitest';
import { parseManifest, readOwnManifest } from '../../../src/sandbox/slack/manifest.ts';
import { startBoth } from './support/fake-app.ts';

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
      usageHint: '',
      scopes: ['commands', 'chat:write', 'users:read'],
      hasHomeTab: false,
      hasMessagesTab: false,
      isMessagesTabReadOnly: true,
    });
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

  it('lets nobody write to the app, nor the app to anybody, without a Messages tab', async () => {
    const { slack, app } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    const user = slack.as('olga');
    for (const channel of [user.id, `D${user.id.slice(1)}`])
      expect(await app.call('chat.postMessage', { channel, text: 'hello' })).toMatchObject({
        error: 'messages_tab_disabled',
      });
    expect(slack.brokenLaws().map(({ law }) => law)).toContain('messages_tab');
    await expect(user.in('dm').types('hello')).rejects.toThrow('has been turned off');
    expect(await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'hello' })).toMatchObject({
      ok: true,
    });
  });

  it('has no Home to open when it says so', async () => {
    const { slack } = await startBoth({ app: { manifest: parseManifest(withoutHome) } });
    await expect(slack.as('olga').opensHome()).rejects.toThrow('no Home tab');
  });
});
