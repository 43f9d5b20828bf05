import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { type FakeApp, modal, startBoth } from './support/fake-app.ts';

const SCOPES = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read'];
const ONCALL = 'S0ONCALL01';
const RANDOM = 'C0RANDOM01';

const start = () => startBoth({ app: { scopes: SCOPES } });
const userOf = async (app: FakeApp, id: string) => (await app.call('users.info', { user: id })).user as Json;

describe('a user group', () => {
  it('has the members that it has now', async () => {
    const { slack, app } = await start();
    const members = async () => (await app.call('usergroups.users.list', { usergroup: ONCALL })).users;
    expect(await members()).toEqual([USERS.otto.id, USERS.nora.id]);
    slack.admin.group('@oncall').users.delete(USERS.nora.id);
    expect(await members()).toEqual([USERS.otto.id]);
  });

  it('is listed with its members only on request', async () => {
    const { app } = await start();
    const [oncall, platform] = (await app.call('usergroups.list', {})).usergroups as Json[];
    expect(oncall).toMatchObject({ id: ONCALL, handle: 'oncall', date_delete: 0 });
    expect(platform).toMatchObject({ id: 'S0PLATFORM', handle: 'platform' });
    expect(oncall).not.toHaveProperty('users');
    expect(await app.call('usergroups.list', { include_users: true, include_count: 'true' })).toMatchObject({
      usergroups: [{ user_count: 2, users: [USERS.otto.id, USERS.nora.id] }, {}],
    });
  });

  it('is left out once it is disabled, unless disabled ones are requested', async () => {
    const { slack, app } = await start();
    slack.admin.group(ONCALL).isDisabled = true;
    expect(await app.call('usergroups.users.list', { usergroup: ONCALL })).toMatchObject({
      error: 'no_such_subteam',
    });
    expect((await app.call('usergroups.list', {})).usergroups).toHaveLength(1);
    const all = await app.call('usergroups.list', { include_disabled: true });
    expect(all).toMatchObject({ usergroups: [{ id: ONCALL, date_delete: expect.any(Number) }, {}] });
    expect(
      await app.call('usergroups.users.list', { usergroup: ONCALL, include_disabled: true }),
    ).toMatchObject({ ok: true });
  });
});

describe('a deactivated user', () => {
  it('is out of all groups and channels, and reported as deleted without any standing', async () => {
    const { slack, app } = await start();
    slack.admin.deactivate('otto');
    expect(await app.call('usergroups.users.list', { usergroup: ONCALL })).toMatchObject({
      users: [USERS.nora.id],
    });
    expect((await app.call('conversations.members', { channel: RANDOM })).members).not.toContain(
      USERS.otto.id,
    );
    const user = await userOf(app, USERS.otto.id);
    expect(user.deleted).toBe(true);
    expect(user).not.toHaveProperty('is_admin');
    expect((await userOf(app, USERS.finn.id)).deleted).toBe(true);
  });

  it('can neither type nor press nor submit, and has no page', async () => {
    const { slack, app } = await start();
    const operator = slack.as('otto');
    await operator.types('/vps create');
    await app.call('views.open', { trigger_id: app.last().trigger_id, view: modal([]) });
    const view = operator.modal()?.id ?? '';
    slack.admin.deactivate('otto');
    const refused = { code: 'account_inactive' };
    await expect(operator.types('/vps list')).rejects.toMatchObject(refused);
    await expect(operator.opensHome()).rejects.toMatchObject(refused);
    const action = { as: USERS.otto.id, do: 'submit', view };
    const answer = await fetch(`${slack.url}/page/do`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(action),
    });
    expect(answer.status).toBe(400);
    expect((await fetch(`${slack.url}/page/state?as=${USERS.otto.id}`)).status).toBe(404);
  });
});

describe('who else there is', () => {
  it('tells bots from people, except Slackbot, which claims to be none', async () => {
    const { app } = await start();
    expect(await userOf(app, 'U0DEPLOYER')).toMatchObject({ is_bot: true, deleted: false });
    expect(await userOf(app, 'USLACKBOT')).toMatchObject({ is_bot: false });
  });

  it('adds a user, with an ID of an organization, who becomes a guest later', async () => {
    const { slack, app } = await start();
    const wanda = slack.admin.addUser({ id: 'W0WANDA001', name: 'wanda' }, ['#ops']);
    await slack.as(wanda).types('/vps list');
    expect(app.last()).toMatchObject({ user_id: 'W0WANDA001', channel_name: 'ops' });
    slack.admin.changeUser('wanda', { isRestricted: true });
    expect(await userOf(app, 'W0WANDA001')).toMatchObject({ is_restricted: true });
  });

  it('blocks commands from other organizations, unless they are forced', async () => {
    const { slack, app } = await start();
    const external = slack.as('sam').in('#acme-shared');
    await expect(external.types('/vps list')).rejects.toMatchObject({ code: 'command_not_available' });
    await external.types('/vps list', { isForced: true });
    expect(app.last()).toMatchObject({ user_id: USERS.sam.id, text: 'list' });
  });
});

describe('a channel', () => {
  it('takes no more posts once it is archived, and says so', async () => {
    const { slack, app } = await start();
    const viewer = slack.as('vera').in('#general');
    await viewer.types('/vps list');
    const url = app.last().response_url;
    slack.admin.archive('#general');
    const channel = 'C0GENERAL1';
    expect(await app.call('conversations.info', { channel })).toMatchObject({
      channel: { is_archived: true },
    });
    expect(await app.call('chat.postMessage', { channel, text: 'x' })).toMatchObject({
      error: 'is_archived',
    });
    const user = USERS.vera.id;
    expect(await app.call('chat.postEphemeral', { channel, user, text: 'x' })).toMatchObject({
      error: 'is_archived',
    });
    expect(await app.respond(url, { text: 'x' })).toMatchObject({ status: 410 });
    await expect(viewer.types('hello')).rejects.toMatchObject({ code: 'is_archived' });
    slack.admin.unarchive('#general');
    await viewer.types('hello');
  });

  it('means nothing any more once it is deleted', async () => {
    const { slack, app } = await start();
    const viewer = slack.as('vera').in('#random');
    await viewer.types('/vps list');
    const url = app.last().response_url;
    slack.admin.deleteChannel('#random');
    expect(await app.call('conversations.info', { channel: RANDOM })).toMatchObject({
      error: 'channel_not_found',
    });
    expect(await app.respond(url, { text: 'x' })).toEqual({ status: 404, body: 'channel_not_found' });
    await expect(viewer.types('hello')).rejects.toMatchObject({ code: 'channel_not_found' });
  });
});

describe('in an organization of several workspaces', () => {
  it('says so in commands as text, in other payloads as JSON', async () => {
    const { slack, app } = await start();
    slack.app.events = ['app_home_opened'];
    slack.admin.joinGrid({ id: 'E1', name: 'Group', isOrgInstall: true });
    await slack.as('olga').types('/vps list');
    expect(app.last()).toMatchObject({
      enterprise_id: 'E1',
      enterprise_name: 'Group',
      is_enterprise_install: 'true',
    });
    await slack.as('olga').opensHome();
    expect(app.last()).toMatchObject({
      enterprise_id: 'E1',
      authorizations: [{ enterprise_id: 'E1', is_enterprise_install: true }],
    });
    await app.call('chat.postMessage', {
      channel: 'C0OPS00001',
      text: 'x',
      blocks: [
        {
          type: 'actions',
          elements: [{ type: 'button', action_id: 'go', text: { type: 'plain_text', text: 'Go' } }],
        },
      ],
    });
    await slack.as('olga').presses('Go');
    expect(app.last()).toMatchObject({
      enterprise: { id: 'E1', name: 'Group' },
      is_enterprise_install: true,
      team: null,
    });
    expect(await app.call('auth.test', {})).toMatchObject({
      enterprise_id: 'E1',
      is_enterprise_install: true,
    });
    expect(await userOf(app, USERS.olga.id)).toMatchObject({ enterprise_user: { enterprise_id: 'E1' } });
  });
});

describe('a menu for several options that the app offers', () => {
  it('keeps the options that were found by different words', async () => {
    const { slack, app } = await start();
    await app.call('chat.postMessage', {
      channel: 'C0OPS00001',
      text: 'x',
      blocks: [
        {
          type: 'section',
          block_id: 'pick',
          text: { type: 'mrkdwn', text: 'Servers' },
          accessory: { type: 'multi_external_select', action_id: 'pick', min_query_length: 1 },
        },
      ],
    });
    app.reply = ({ kind, content }) => {
      if (kind !== 'block_suggestion') return {};
      const value = String(content.value);
      return { body: { options: [{ text: { type: 'plain_text', text: value }, value }] } };
    };
    await slack.as('olga').fills({ Servers: ['web-1', 'db-1'] });
    expect(app.last()).toMatchObject({
      actions: [{ selected_options: [{ value: 'web-1' }, { value: 'db-1' }] }],
    });
  });
});
