import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { type Installs, startInstalls } from '../../support/installs.ts';
import { movableSystem } from '../../support/movable-system.ts';
import type { TeamOptions } from '../../support/team.ts';

/** An installed app with an API key, a role and the root password of a paid server. */
async function startWithPassword(options: TeamOptions = {}) {
  const team = await startInstalls(options);
  await team.install(team.first);
  await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
  await team.app.ports.homes.put(TEAM.id, 'U0OWNER001', { channelId: 'D1', page: 0, openedAt: 0 });
  const owner = team.first.as('olga').in('#ops');
  await owner.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await owner.presses('Create and pay');
  await owner.sees('web-1 is being created');
  await expect.poll(() => team.app.ports.passwords.listHeld(TEAM.id)).toHaveLength(1);
  return Object.assign(team, { owner });
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

async function actionsOf({ app }: Installs) {
  const entries = await app.ports.audit.list({ workspaceId: TEAM.id, limit: 50 });
  return entries.map(({ action, label }) => (label === undefined ? action : `${action} ${label}`));
}

/** The moment after which an event would have done what it should not do. */
const settled = (team: Installs) =>
  expect.poll(() => team.app.ports.installationStore.listRevocations(), { timeout: 60_000 }).toEqual([]);

describe('an uninstall', () => {
  it('erases the token, the API key, passwords and roles, and keeps the ledger and the audit', async () => {
    await using team = await startWithPassword();
    const [held] = await team.app.ports.passwords.listHeld(TEAM.id);
    await team.first.uninstallApp();
    await expect.poll(() => leftOf(team)).toEqual(NOTHING);
    expect((await actionsOf(team)).slice(0, 2)).toEqual(['uninstall', 'password_erased web-1']);
    expect(await team.app.ports.ledger.find(held?.operationId ?? '')).toMatchObject({ state: 'settled' });
    expect(await team.app.ports.audit.verify(TEAM.id)).toMatchObject({ ok: true });
  });

  it('erases the root password of an order that is answered after it', async () => {
    await using team = await startInstalls();
    await team.install(team.first);
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
    const owner = team.first.as('olga').in('#ops');
    await owner.types('/vps create plan=small location=ams image=debian-13 label=web-1');
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

  it('makes later commands say that the app isn’t installed, and audits none of them', async () => {
    await using team = await startWithPassword();
    await team.first.uninstallApp();
    await expect.poll(() => leftOf(team)).toEqual(NOTHING);
    const before = await actionsOf(team);
    await team.owner.types('/vps list', { isForced: true });
    await team.owner.sees('vps isn’t installed in this workspace');
    expect(await actionsOf(team)).toEqual(before);
  });

  it('is completed after a restart if Slack could not confirm it when its event arrived', async () => {
    await using team = await startWithPassword();
    team.slack.faults.rateLimit('auth.test', { times: 1000 });
    await team.first.uninstallApp();
    await expect.poll(() => team.app.ports.installationStore.listRevocations()).toHaveLength(1);
    expect(await leftOf(team)).toEqual(ALL);
    team.slack.faults.clear();
    await team.restart();
    await expect.poll(() => leftOf(team), { timeout: 60_000 }).toEqual(NOTHING);
  });

  it('doesn’t erase a new installation that follows right after it', async () => {
    await using team = await startWithPassword();
    await team.first.uninstallApp();
    await expect.poll(() => leftOf(team)).toEqual(NOTHING);
    const [event] = team.slack.deliveries().filter(({ what }) => what === 'event app_uninstalled');
    await team.install(team.first);
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
    if (event) await team.slack.redeliver(event);
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { oauth: [], bot: ['U0VPSBOT01'] } });
    await settled(team);
    expect(await leftOf(team)).toEqual({ ...ALL, passwords: 0, home: false });
  });

  it('of one workspace doesn’t affect the other', async () => {
    await using team = await startWithPassword();
    await team.install(team.second);
    await team.second.uninstallApp();
    await expect.poll(() => actionsOfSecond(team)).toContain('uninstall');
    expect(await leftOf(team)).toEqual(ALL);
  });
});

async function actionsOfSecond({ app }: Installs) {
  const entries = await app.ports.audit.list({ workspaceId: 'T0SECOND01', limit: 9 });
  return entries.map(({ action }) => action);
}

it('Slack’s check of the address for events is answered with its challenge', async () => {
  await using team = await startInstalls({ mode: 'http' });
  const body = JSON.stringify({ type: 'url_verification', token: 'x', challenge: 'a-challenge' });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = team.slack.sign(body, timestamp);
  const answer = await team.slack.deliverRaw(body, { contentType: 'application/json', timestamp, signature });
  expect([answer.status, answer.response]).toEqual([200, expect.stringContaining('a-challenge')]);
});

describe('an event about revoked tokens', () => {
  it.each([
    { oauth: ['U0OWNER001'] },
    { oauth: ['U0OWNER001'], bot: [] },
    {},
    undefined,
  ])('of users alone changes nothing: %j', async (tokens) => {
    await using team = await startWithPassword();
    team.slack.oauth.revokeAll(TEAM.id, 'token_revoked');
    await team.first.sendEvent({ type: 'tokens_revoked', ...(tokens && { tokens }) });
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { bot: 'nonsense' } });
    await settled(team);
    expect(await leftOf(team)).toEqual(ALL);
  });

  it('changes nothing while Slack still accepts the token', async () => {
    await using team = await startWithPassword();
    await team.first.sendEvent({ type: 'tokens_revoked', tokens: { bot: ['U0VPSBOT01'] } });
    await team.first.sendEvent({ type: 'app_uninstalled' });
    await settled(team);
    expect(team.slack.traffic().filter(({ what }) => what === 'auth.test').length).toBeGreaterThan(1);
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

  it('with a forged signature changes nothing', async () => {
    await using team = await startWithPassword({ mode: 'http' });
    team.slack.oauth.revokeAll(TEAM.id, 'account_inactive');
    const body = JSON.stringify({
      type: 'event_callback',
      team_id: TEAM.id,
      event_time: Math.floor(Date.now() / 1000),
      event: { type: 'app_uninstalled' },
    });
    const answer = await team.slack.deliverRaw(body, {
      contentType: 'application/json',
      timestamp: '1',
      signature: 'v0=0',
    });
    expect(answer.status).toBe(401);
    expect(await leftOf(team)).toEqual(ALL);
  });
});

describe('a token that was revoked without an event', () => {
  it('makes commands say that Slack no longer accepts it, and erases nothing', async () => {
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
    await team.owner.types('/vps list');
    await team.owner.sees('1 server');
  });
});
