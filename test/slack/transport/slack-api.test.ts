import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Secret } from '../../../src/core/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import type { SlackOptions } from '../../../src/sandbox/slack/world.ts';
import { createChannels, createGroups, createUsers } from '../../../src/slack/directory.ts';
import { actions, textMessage } from '../../../src/slack/kit/blocks.ts';
import { defineButton } from '../../../src/slack/kit/button.ts';
import { editCards, postCards } from '../../../src/slack/outbox.ts';
import { createSlackConnections, type SlackApi } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';
import { startBoth, TOKEN } from '../../sandbox/slack/support/fake-app.ts';

const ALL = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read', 'groups:read'];
const OPS = 'C0OPS00001';
const approve = defineButton('approve', z.string());

/** Our client over the local Slack, whose app has these scopes. */
async function start(scopes = ALL, app: Partial<SlackOptions['app']> = {}) {
  const { slack } = await startBoth({ app: { scopes, ...app } });
  const connections = createSlackConnections({ apiUrl: slack.apiUrl, log: silentLog, system: realSystem });
  const api = connections.open(async () => ({ token: new Secret(TOKEN) }));
  return { slack, api };
}

describe('a message', () => {
  it('to a channel is identified by channel and timestamp, and edited in place', async () => {
    const { slack, api } = await start();
    const posted = await api.post(OPS, textMessage('Approve?', actions(approve.element('Approve', 'x'))));
    expect(posted).toMatchObject({ ok: true, channelId: OPS, ts: expect.stringMatching(/^\d+\.\d+$/) });
    if (!posted.ok) throw new Error(posted.error);
    const owner = slack.as('olga').in('#ops');
    await owner.sees('Approve?');
    expect(await api.updateMessage(posted, textMessage('Approved'))).toEqual({ ok: true });
    await owner.sees('Approved');
    owner.doesNotSee('Approve?');
  });

  it('to a user is posted in the conversation with the app, and edited there', async () => {
    const { slack, api } = await start();
    const posted = await api.post(USERS.olga.id, textMessage('Approve?'));
    expect(posted).toMatchObject({ ok: true, channelId: expect.stringMatching(/^D/) });
    if (!posted.ok) throw new Error(posted.error);
    expect(await api.updateMessage(posted, textMessage('Approved'))).toEqual({ ok: true });
    await slack.as('olga').in('dm').sees('Approved');
    slack.as('mara').in('dm').doesNotSee('Approved');
  });

  it.each([
    ['chat.postMessage', 'not_in_channel'],
    ['chat.update', 'message_not_found'],
  ])('that %s refuses fails with Slack’s code', async (method, error) => {
    const { slack, api } = await start();
    slack.faults.failMethod(method, error);
    const card = { channelId: OPS, ts: '1.0' };
    const answer =
      method === 'chat.update'
        ? await api.updateMessage(card, textMessage('x'))
        : await api.post(OPS, textMessage('x'));
    expect(answer).toEqual({ ok: false, error });
  });
});

describe('cards', () => {
  it('reach everyone they can, lose their buttons when they are edited, and skip messages that are gone', async () => {
    const { slack, api } = await start();
    const cards = await postCards(
      [USERS.olga.id, 'U0NOONE', USERS.mara.id, OPS],
      textMessage('Yes or no?'),
      api,
    );
    expect(cards.length).toBe(3);
    await editCards([{ channelId: OPS, ts: '1.0' }, ...cards], textMessage('It was a yes'), api);
    for (const [name, place] of [
      ['olga', 'dm'],
      ['mara', 'dm'],
      ['vera', '#ops'],
    ] as const) {
      await slack.as(name).in(place).sees('It was a yes');
      slack.as(name).in(place).doesNotSee('Yes or no?');
    }
  });

  it('are posted without a block that Slack does not know', async () => {
    const { slack, api } = await start();
    slack.faults.refuseBlock('divider');
    const message = {
      text: 'x',
      blocks: [{ type: 'divider' as const }],
      plainBlocks: textMessage('The plain one').blocks,
    };
    expect((await postCards([OPS], message, api)).length).toBe(1);
    await slack.as('olga').in('#ops').sees('The plain one');
  });
});

describe('the app’s own identity', () => {
  it('names its workspace, and the organization that the workspace belongs to', async () => {
    const { slack, api } = await start();
    const alone = {
      ok: true,
      workspaceId: 'T0SANDBOX',
      workspaceName: 'Sandbox',
      botUserId: 'U0VPSBOT01',
    };
    expect(await api.whoAmI()).toEqual(alone);
    slack.admin.joinGrid();
    expect(await api.whoAmI()).toEqual({ ...alone, enterpriseId: 'E0SANDBOX' });
  });
});

describe('Slack’s directory', () => {
  const ports = (api: SlackApi) => ({
    people: createUsers({ of: () => api }, realSystem),
    groups: createGroups({ of: () => api }, realSystem),
    channels: createChannels({ of: () => api }, realSystem),
  });

  it('lists the members of a group, and none of a disabled group', async () => {
    const { slack, api } = await start();
    const oncall = slack.admin.group('@oncall');
    expect(await ports(api).groups.listMembers('T0SANDBOX', oncall.id)).toEqual([...oncall.users]);
    oncall.isDisabled = true;
    const { groups } = ports(api);
    expect(await groups.listMembers('T0SANDBOX', oncall.id)).toEqual([]);
    expect(await groups.list('T0SANDBOX')).toContainEqual({
      id: oncall.id,
      handle: 'oncall',
      name: oncall.name,
      isDisabled: true,
    });
  });

  it('distinguishes users of other organizations, guests, bots and deactivated users', async () => {
    const { slack, api } = await start();
    const find = (name: keyof typeof USERS) => ports(api).people.find('T0SANDBOX', USERS[name].id);
    expect(await find('olga')).toMatchObject({ isAdmin: true, teamIds: ['T0SANDBOX'] });
    expect(await find('gus')).toMatchObject({ isGuest: true, isStranger: false });
    expect(await find('sam')).toMatchObject({
      isGuest: false,
      isStranger: true,
      teamIds: ['T0ACME0001'],
    });
    expect(await find('finn')).toMatchObject({ isDeactivated: true });
    expect(await ports(api).people.exists('T0SANDBOX', 'U0NOONE')).toBe('no');
    slack.admin.joinGrid();
    expect(await find('vera')).toMatchObject({ teamIds: ['T0SANDBOX'] });
  });

  it('says whether a channel exists', async () => {
    const { slack, api } = await start();
    const { channels } = ports(api);
    expect(await channels.look('T0SANDBOX', OPS)).toBe('there');
    slack.admin.archive('#random');
    expect(await channels.look('T0SANDBOX', 'C0RANDOM01')).toBe('archived');
    slack.admin.deleteChannel('#random');
    expect(await channels.look('T0SANDBOX', 'C0RANDOM01')).toBe('unknown');
    expect(await channels.look('T0SANDBOX', 'C0PRIVATE1')).toBe('unknown');
  });

  it('returns nothing, without failing, if the scopes are missing', async () => {
    const { api } = await start(['commands', 'chat:write']);
    const { people, groups, channels } = ports(api);
    expect(await people.find('T0SANDBOX', USERS.olga.id)).toBeUndefined();
    expect(await people.exists('T0SANDBOX', USERS.olga.id)).toBe('hidden');
    expect(await groups.list('T0SANDBOX')).toBeUndefined();
    expect(await groups.listMembers('T0SANDBOX', 'S0ONCALL01')).toEqual([]);
    expect(await channels.look('T0SANDBOX', OPS)).toBeUndefined();
  });

  it('returns nothing while Slack is down, rate-limits the app or sends an invalid answer', async () => {
    const { slack, api } = await start();
    slack.faults.rateLimit('usergroups.list');
    slack.faults.failMethod('users.info', 'internal_error');
    const { people, groups } = ports(api);
    expect(await groups.listMembers('T0SANDBOX', 'S0ONCALL01')).toBeUndefined();
    expect(await people.exists('T0SANDBOX', USERS.olga.id)).toBe('unknown');
    await slack.stop();
    expect(await ports(api).groups.listMembers('T0SANDBOX', 'S0ONCALL01')).toBeUndefined();
    expect(await ports(api).channels.look('T0SANDBOX', OPS)).toBeUndefined();
    expect(await api.post(OPS, textMessage('x'))).toMatchObject({ ok: false, error: expect.any(String) });
  });
});
