import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { INSTALLATION } from '../../../src/installations/store.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { createServer, orderOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { until } from '../../support/eventually.ts';
import { CLIENT, type Installs, startInstalls } from '../../support/installs.ts';
import type { TeamOptions } from '../../support/team.ts';

/** An installed app with an API key, a role and the root password of a paid server. */
async function startWithPassword(options: TeamOptions = {}) {
  const team = await startInstalls(options);
  await team.install(team.first);
  await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
  await team.app.ports.homes.put(TEAM.id, 'U0OWNER001', { channelId: 'D1', page: 0, openedAt: 0 });
  const { owner } = team;
  await createServer(owner);
  await until(async () => (await team.app.ports.passwords.listHeld(TEAM.id)).length === 1);
  return team;
}

/** What is left that could be used. */
async function leftOf({ app }: Installs) {
  const { installationStore, apiKeys, passwords, grants, homes } = app.ports;
  return {
    token: (await installationStore.find(TEAM.id)) !== undefined,
    key: (await apiKeys.find(TEAM.id)) !== undefined,
    passwords: (await passwords.listHeld(TEAM.id)).length,
    roles: (await grants.list(TEAM.id)).length,
    home: (await homes.find(TEAM.id, 'U0OWNER001')) !== undefined,
  };
}

const NOTHING = { token: false, key: false, passwords: 0, roles: 0, home: false };
const ALL = { token: true, key: true, passwords: 1, roles: 1, home: true };

async function actionsOf({ app }: Installs, workspaceId: string = TEAM.id) {
  const entries = await app.ports.audit.list({ workspaceId, limit: 50 });
  return entries.map(({ action, label }) => (label === undefined ? action : `${action} ${label}`));
}

/** The moment after which an event would have done what it should not do. */
const settled = (team: Installs) =>
  until(async () => (await team.app.ports.jobStore.list(INSTALLATION, TEAM.id)).length === 0);

describe.concurrent('an uninstall', () => {
  it('erases the token, the API key, passwords and roles of one workspace, and not those of another or of a new install', async ({
    expect,
  }) => {
    await using team = await startWithPassword();
    await team.install(team.second);
    await team.second.uninstallApp();
    await expect.poll(() => actionsOf(team, 'T0SECOND01')).toContain('uninstall');
    expect(await leftOf(team)).toEqual(ALL);
    const [held] = await team.app.ports.passwords.listHeld(TEAM.id);
    await team.first.uninstallApp();
    await expect.poll(() => leftOf(team)).toEqual(NOTHING);
    const actions = await actionsOf(team);
    expect(actions.slice(0, 2)).toEqual(['uninstall', 'password_erased web-1']);
    expect(await team.app.ports.ledger.find(held?.operationId ?? '')).toMatchObject({ state: 'settled' });
    expect(await team.app.ports.audit.verify(TEAM.id)).toMatchObject({ ok: true });
    await team.owner.types('/vps list', { isForced: true });
    await team.owner.sees('vps isn’t installed in this workspace');
    expect(await actionsOf(team)).toEqual(actions);
    const event = team.slack.lastDelivery('event app_uninstalled');
    await team.install(team.first);
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
    await team.slack.redeliver(event);
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { oauth: [], bot: ['U0VPSBOT01'] } });
    await settled(team);
    expect(await leftOf(team)).toEqual({ ...ALL, passwords: 0, home: false });
  });

  it('erases the root password of an order that is answered after it', async ({ expect }) => {
    await using team = await startInstalls();
    await team.install(team.first);
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
    const owner = team.first.as('olga');
    await owner.types(orderOf('web-1'));
    team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 1200 });
    await owner.presses('Create and pay');
    await expect.poll(() => team.hosting.listServers(team.account)).toHaveLength(1);
    await team.first.uninstallApp();
    await expect.poll(() => actionsOf(team)).toContain('uninstall');
    await expect.poll(async () => (await actionsOf(team))[0]).toBe('password_erased web-1');
    expect(await leftOf(team)).toEqual(NOTHING);
    expect(await actionsOf(team)).toContain('create web-1');
    await team.install(team.first);
    await owner.types('/vps password web-1');
    await owner.sees('There’s no stored root password for web-1: it was saved or erased');
  });

  it('is completed after a restart if Slack could not confirm it when its event arrived', async ({
    expect,
  }) => {
    await using team = await startWithPassword();
    team.slack.faults.rateLimit('auth.test', { times: 1000 });
    await team.first.uninstallApp();
    await expect.poll(() => team.app.ports.jobStore.list(INSTALLATION, TEAM.id)).toHaveLength(1);
    expect(await leftOf(team)).toEqual(ALL);
    team.slack.faults.clear();
    await team.restart();
    await expect.poll(() => leftOf(team)).toEqual(NOTHING);
  });
});

it.concurrent('Slack’s check of the address for events is answered with its challenge', async () => {
  await using team = await startInstalls({ mode: 'http' });
  const body = JSON.stringify({ type: 'url_verification', token: 'x', challenge: 'a-challenge' });
  const answer = await team.slack.deliverAt(0, body, 'application/json');
  expect([answer.status, answer.response]).toEqual([200, expect.stringContaining('a-challenge')]);
});

describe.concurrent('an event about revoked tokens', () => {
  it('changes nothing while Slack still accepts the token, or if it is about tokens of users alone', async () => {
    await using team = await startWithPassword();
    const tests = () => team.slack.traffic().filter(({ what }) => what === 'auth.test').length;
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { bot: ['U0VPSBOT01'] } });
    await team.first.sendEvent({ type: 'app_uninstalled' });
    await settled(team);
    const before = tests();
    for (const tokens of [{ oauth: ['U0OWNER001'] }, { oauth: ['U0OWNER001'], bot: [] }, {}, undefined])
      await team.first.sendEvent({ type: 'tokens_revoked', ...(tokens && { tokens }) });
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { bot: 'nonsense' } });
    await settled(team);
    expect(tests()).toBe(before);
    expect(await leftOf(team)).toEqual(ALL);
  });

  it('from long before the install changes nothing, whatever Slack says about the token', async () => {
    const system = movableSystem();
    system.move(3_600_000);
    await using team = await startWithPassword({ system });
    team.slack.faults.failMethod('auth.test', 'token_revoked');
    await team.first.sendEvent({ type: 'app_uninstalled' });
    await settled(team);
    expect(await leftOf(team)).toEqual(ALL);
  });
});

it.concurrent('a token that was revoked without an event makes commands say that Slack no longer accepts it, and erases nothing', async ({
  expect,
}) => {
  await using team = await startWithPassword();
  team.slack.oauth.revokeAll(TEAM.id, 'token_revoked');
  await team.owner.types('/vps status');
  await expect
    .poll(async () => (await team.app.ports.installationStore.find(TEAM.id))?.isTokenRefused)
    .toBe(true);
  const before = await actionsOf(team);
  await team.owner.types('/vps list');
  await team.owner.sees('Slack no longer accepts this app’s token');
  expect(await actionsOf(team)).toEqual(before);
  expect(await leftOf(team)).toEqual(ALL);
  await team.install(team.first);
  await team.owner.overlooksOldMessages().types('/vps list');
  await team.owner.sees('1 server');
});

/** An app whose tokens expire, on clocks that can be moved together. */
async function startRotating() {
  const system = movableSystem();
  const oauth = { ...CLIENT, redirectUrls: ['http://127.0.0.1/slack/oauth_redirect'], rotatesTokens: true };
  const team = await startInstalls({ system, clock: system, slackApp: { oauth } });
  await team.install(team.first);
  const find = () => team.app.ports.installationStore.find(TEAM.id);
  /** The hours pass, while the app renews tokens that are about to end. */
  const pass = async (hours: number) => {
    const before = (await find())?.tokens.rotation?.expiresAt;
    system.move(hours * HOUR_MS);
    await until(async () => (await find())?.tokens.rotation?.expiresAt !== before);
  };
  return Object.assign(team, { system, find, pass });
}

describe.concurrent('an app with token rotation', () => {
  it('answers what it is asked right after a stop in which its token expired', async () => {
    await using team = await startRotating();
    await team.restart(async () => {
      team.system.move(13 * HOUR_MS);
      team.slack.faults.slowDown('oauth.v2.access', 300);
    });
    await team.owner.types('@vps help');
    await team.owner.sees('@vps help all');
    await team.owner.types('/vps connect');
    await team.owner.sees('Enter the API key');
    expect(team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access')).toHaveLength(2);
  });

  it('renews its token before it expires, also after a longer stop, and is uninstalled like any other', async ({
    expect,
  }) => {
    await using team = await startRotating();
    for (const hours of [10, 30 * 24]) {
      await team.pass(hours);
      await team.owner.overlooksOldMessages().types('/vps status');
      await team.owner.sees('Unsaved root passwords');
      team.owner.doesNotSee('no longer accepts');
    }
    expect(team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access')).toHaveLength(3);
    await team.first.uninstallApp();
    await expect.poll(team.find).toBeUndefined();
  });

  it('asks users to install it again when its refresh token is lost, and works after that', async ({
    expect,
  }) => {
    await using team = await startRotating();
    team.slack.faults.failMethod('oauth.v2.access', 'invalid_refresh_token', 1);
    team.system.move(11 * HOUR_MS);
    await expect.poll(async () => (await team.find())?.isRefreshRefused).toBe(true);
    await team.owner.types('/vps status');
    await team.owner.sees('Slack won’t renew the app’s token');
    expect((await fetch(`${team.appUrl}/readyz`)).status).toBe(200);
    team.system.move(2 * HOUR_MS);
    await team.owner.types('/vps list');
    await team.owner.sees('Slack no longer accepts this app’s token');
    await team.install(team.first);
    await team.owner.overlooksOldMessages().types('/vps status');
    await team.owner.sees('Unsaved root passwords');
    team.owner.doesNotSee('no longer accepts');
  });
});
