import { describe, expect, it } from 'vitest';
import { parseManifest } from '../../../src/sandbox/slack/manifest.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { makeHandClock } from '../../../src/sandbox/slack/world.ts';
import type { LocalSlack } from '../../support/slack/local-slack.ts';
import { actions, brokenRules, button, modal, startBoth, textInput } from './support/fake-app.ts';

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
  it('decides which scopes there are: none that stands in the optional list alone', async () => {
    const manifest = parseManifest(withoutHome);
    const { slack, app } = await startBoth({ app: { manifest, scopes: manifest.scopes } });
    expect(await app.call('users.info', { user: slack.as('olga').id })).toMatchObject({ ok: true });
    expect(await app.errorOf('usergroups.list', {})).toBe('missing_scope');
  });

  it('lets no user write to the app, nor the app to any user, without a Messages tab', async () => {
    // Two messages in one second.
    const { slack, app } = await startBoth({
      hasRateLimits: false,
      app: { manifest: parseManifest(withoutHome) },
    });
    const user = slack.as('olga');
    for (const channel of [user.id, `D${user.id.slice(1)}`])
      expect(await app.errorOf('chat.postMessage', { channel, text: 'hello' })).toBe('messages_tab_disabled');
    expect(brokenRules(slack)).toContain('messages_tab');
    await expect(user.in('dm').types('hello')).rejects.toThrow('has been turned off');
    expect(await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'hello' })).toMatchObject({
      ok: true,
    });
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
      const view = modal([textInput('Name')]);
      await app.call('views.open', { trigger_id: content.trigger_id, view });
      return {};
    };
    await olga.types('/servers');
    await olga.fills({ Name: 'web-1' });
    await expect(olga.submits()).rejects.toThrow('not_interactive');
    await olga.closes();
    expect(app.received.map(({ kind }) => kind)).toEqual(['command']);
  });
});

const CLIENT = { clientId: '1.2', clientSecret: 'secret-of-the-client' };
const REDIRECT = 'https://app.test/slack/oauth_redirect';
const SCOPES = 'commands,chat:write,users:read';

type Json = Record<string, unknown>;

async function start({ rotatesTokens = false, clock = makeHandClock() } = {}) {
  const oauth = { ...CLIENT, redirectUrls: [REDIRECT], rotatesTokens };
  const { slack, app } = await startBoth({ clock, app: { botToken: '', oauth } });
  const call = (method: string, args: Json, token = '') => app.call(method, args, token);
  const access = (args: Json) =>
    call('oauth.v2.access', { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, ...args });
  const exchange = (code: string) => access({ code, redirect_uri: REDIRECT });
  const install = async (place: string = TEAM.id, user = 'U0OWNER001') =>
    exchange(await allow(slack, place, user));
  return { slack, app, clock, call, access, exchange, install };
}

/** The code that Slack's page sends the browser back with. */
async function allow(slack: LocalSlack, place: string, user: string): Promise<string> {
  const asked = { client_id: CLIENT.clientId, scope: SCOPES, state: 'a state', redirect_uri: REDIRECT };
  const answer = await fetch(`${slack.url}/oauth/v2/authorize?${new URLSearchParams(asked)}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ decision: 'allow', place, user }),
  });
  return new URL(answer.headers.get('location') ?? 'about:blank').searchParams.get('code') ?? '';
}

it('oauth.v2.access takes a code once, for ten minutes, with the right secret and address', async () => {
  const { slack, clock, access, exchange } = await start();
  const code = await allow(slack, TEAM.id, 'U0OWNER001');
  expect(await exchange('made-up')).toMatchObject({ ok: false, error: 'invalid_code' });
  expect(await access({ code, client_secret: 'wrong' })).toMatchObject({ error: 'bad_client_secret' });
  expect(await access({ code, client_id: 'wrong' })).toMatchObject({ error: 'invalid_client_id' });
  expect(await access({ code, redirect_uri: 'https://b.test' })).toMatchObject({
    error: 'bad_redirect_uri',
  });
  expect(await access({ code, grant_type: 'password' })).toMatchObject({ error: 'invalid_grant_type' });
  expect(await exchange(code)).toMatchObject({ ok: true });
  expect(await exchange(code)).toMatchObject({ ok: false, error: 'code_already_used' });
  const late = await allow(slack, TEAM.id, 'U0OWNER001');
  clock.advance(601_000);
  expect(await exchange(late)).toMatchObject({ ok: false, error: 'code_expired' });
});

it('two workspaces have a token, users and channels each, and neither token opens the other one', async () => {
  const { slack, call, install } = await start();
  const second = slack.addTeam(SECOND_TEAM);
  const [one, two] = [await install(), await install(SECOND_TEAM.id, second.as('olga').id)];
  const [first, other] = [String(one.access_token), String(two.access_token)];
  expect(first).not.toBe(other);
  expect(await call('auth.test', {}, other)).toMatchObject({ team_id: SECOND_TEAM.id });
  const user = second.as('mara').id;
  expect(await call('users.info', { user }, other)).toMatchObject({ ok: true });
  expect(await call('users.info', { user }, first)).toMatchObject({ error: 'user_not_found' });
  const channel = second.channel('#ops')?.id;
  expect(await call('chat.postMessage', { channel, text: 'hi' }, other)).toMatchObject({ ok: true });
  expect(await call('chat.postMessage', { channel, text: 'hi' }, first)).toMatchObject({ ok: false });
});

it('token rotation makes tokens expire after twelve hours, and takes each refresh token once', async () => {
  const { clock, call, access, install } = await start({ rotatesTokens: true });
  const first = await install();
  expect(first).toMatchObject({ expires_in: 43_200 });
  const refresh = (token: unknown) => access({ grant_type: 'refresh_token', refresh_token: token });
  const second = await refresh(first.refresh_token);
  expect(second).toMatchObject({ ok: true, expires_in: 43_200 });
  expect(await refresh(first.refresh_token)).toMatchObject({ error: 'invalid_refresh_token' });
  const test = (token: unknown) => call('auth.test', {}, String(token));
  expect([(await test(first.access_token)).ok, (await test(second.access_token)).ok]).toEqual([true, true]);
  const third = await refresh(second.refresh_token);
  expect(await test(first.access_token)).toMatchObject({ error: 'token_revoked' });
  clock.advance(43_200_000);
  expect(await test(third.access_token)).toMatchObject({ error: 'token_expired' });
  expect(await refresh(third.refresh_token)).toMatchObject({ ok: true });
});

it('an app that is installed for a whole organization has one token for the workspaces that were given the app, and names the workspace in each call', async () => {
  const { slack, call, exchange } = await start();
  const second = slack.addTeam(SECOND_TEAM);
  slack.admin.joinGrid({ isOrgInstall: true });
  second.admin.joinGrid({ isOrgInstall: false });
  const answer = await exchange(await allow(slack, 'E0SANDBOX', 'U0OWNER001'));
  expect(answer).toMatchObject({
    team: null,
    enterprise: { id: 'E0SANDBOX' },
    is_enterprise_install: true,
  });
  const token = String(answer.access_token);
  expect(await call('auth.test', {}, token)).toMatchObject({ is_enterprise_install: true });
  expect(await call('auth.teams.list', {}, token)).toMatchObject({ teams: [{ id: TEAM.id }] });
  const post = (team_id?: string) =>
    call('users.info', { user: 'U0OWNER001', ...(team_id && { team_id }) }, token);
  expect(await post(TEAM.id)).toMatchObject({ ok: true });
  expect(await post(SECOND_TEAM.id)).toMatchObject({ error: 'team_access_not_granted' });
  expect(await post()).toMatchObject({ error: 'invalid_arguments' });
});
