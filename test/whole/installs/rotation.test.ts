import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../src/core/time.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { CLIENT, startInstalls } from '../../support/installs.ts';
import { movableSystem } from '../../support/movable-system.ts';

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
    await expect.poll(async () => (await find())?.tokens.rotation?.expiresAt).not.toBe(before);
  };
  const owner = team.first.as('olga').in('#ops');
  return Object.assign(team, { system, find, pass, owner });
}

describe('an app with token rotation', () => {
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

  it('renews its token before it expires, and also after having been stopped for longer', async () => {
    await using team = await startRotating();
    for (const hours of [10, 30 * 24]) {
      await team.pass(hours);
      await team.owner.types('/vps status');
      await team.owner.sees('User lookups: OK');
    }
    expect(team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access')).toHaveLength(3);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('asks users to install it again when its refresh token is lost, and works after that', async () => {
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
    await team.owner.types('/vps status');
    await team.owner.sees('User lookups: OK');
  });

  it('is uninstalled like any other', async () => {
    await using team = await startRotating();
    await team.pass(10);
    await team.first.uninstallApp();
    await expect.poll(team.find).toBeUndefined();
  });

  it('is not erased by an event while Slack says only that its token has expired', async () => {
    await using team = await startRotating();
    team.slack.faults.failMethod('oauth.v2.access', 'invalid_refresh_token', 1);
    team.system.move(13 * HOUR_MS);
    await expect.poll(async () => (await team.find())?.isRefreshRefused).toBe(true);
    const tests = () => team.slack.traffic().filter(({ what }) => what === 'auth.test').length;
    const heard = tests();
    await team.first.sendEvent({ type: 'app_uninstalled' });
    await expect.poll(tests).toBeGreaterThan(heard);
    const asked = tests();
    team.system.move(HOUR_MS);
    await expect.poll(tests).toBeGreaterThan(asked);
    expect(await team.find()).toBeDefined();
    await team.owner.types('/vps list');
    await team.owner.sees('Slack no longer accepts this app’s token');
  });
});
