import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { CLIENT, startInstalls } from '../../support/installs.ts';
import { movableSystem } from '../../support/movable-system.ts';

/** An app whose tokens expire, on clocks that can be moved together. */
async function startRotating() {
  const system = movableSystem();
  const oauth = { ...CLIENT, redirectUrls: ['http://127.0.0.1/slack/oauth_redirect'], rotatesTokens: true };
  const team = await startInstalls({ system, clock: system, slackApp: { oauth } });
  await team.install(team.first);
  return Object.assign(team, { system, owner: team.first.as('olga').in('#ops') });
}

describe('an app with token rotation', () => {
  it('works after its token has expired, however long it was unused', async () => {
    await using team = await startRotating();
    team.system.move(30 * 24 * HOUR_MS);
    await team.owner.types('/vps status');
    await team.owner.sees('User lookups: working');
    expect(team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access')).toHaveLength(2);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('asks for a new install in words when the refresh token is lost, and works again after it', async () => {
    await using team = await startRotating();
    team.system.move(11 * HOUR_MS);
    team.slack.faults.failMethod('oauth.v2.access', 'invalid_refresh_token', 1);
    await team.owner.types('/vps status');
    await team.owner.sees('What the app may do in Slack');
    await expect
      .poll(async () => (await team.app.ports.installationStore.find(TEAM.id))?.isRefreshRefused)
      .toBe(true);
    await team.owner.types('/vps status');
    await team.owner.sees('Slack won’t renew the app’s token');
    expect((await fetch(`${team.appUrl}/readyz`)).status).toBe(200);
    team.system.move(2 * HOUR_MS);
    await team.owner.types('/vps list');
    await team.owner.sees('Slack no longer accepts this app’s token');
    await team.install(team.first);
    await team.owner.types('/vps status');
    await team.owner.sees('User lookups: working');
  });

  it.each([
    false,
    true,
  ])('is uninstalled like any other, also when its token has expired, and Slack says no more (%s)', async (hides) => {
    await using team = await startRotating();
    team.slack.oauth.hidesRevocationOfExpired = hides;
    team.system.move(13 * HOUR_MS);
    await team.first.uninstallApp();
    await expect.poll(() => team.app.ports.installationStore.find(TEAM.id)).toBeUndefined();
    const refreshes = team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access');
    expect(refreshes).toHaveLength(hides ? 2 : 1);
  });

  it('is not erased by an event while its expired token can be renewed', async () => {
    await using team = await startRotating();
    team.system.move(13 * HOUR_MS);
    await team.first.sendEvent({ type: 'app_uninstalled' });
    await expect
      .poll(() => team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access').length)
      .toBe(2);
    await expect.poll(() => team.app.ports.installationStore.listRevocations()).toEqual([]);
    expect(await team.app.ports.installationStore.find(TEAM.id)).toBeDefined();
  });
});

describe('a refresh whose answer was lost', () => {
  /** An app whose refresh token was used up by a renewal that it never got the answer to. */
  async function startLost() {
    const team = await startRotating();
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
    team.slack.oauth.hidesRevocationOfExpired = true;
    team.system.move(13 * HOUR_MS);
    team.slack.faults.loseAnswers('oauth.v2.access');
    const settle = () =>
      expect.poll(() => team.app.ports.installationStore.listRevocations(), { timeout: 60_000 }).toEqual([]);
    const tests = () => team.slack.traffic().filter(({ what }) => what === 'auth.test').length;
    /** Nobody has uninstalled it, but the event may be a late one. */
    const hear = async (event: Readonly<Record<string, unknown>>) => {
      const before = tests();
      await team.first.sendEvent(event);
      await expect.poll(tests).toBeGreaterThan(before);
    };
    return Object.assign(team, { hear, settle });
  }

  async function isKept({ app }: Awaited<ReturnType<typeof startLost>>) {
    const { installationStore, apiKeys } = app.ports;
    return [await installationStore.find(TEAM.id), await apiKeys.find(TEAM.id)].every(
      (one) => one !== undefined,
    );
  }

  it('in the check of an event keeps the workspace, which works again after another install', async () => {
    await using team = await startLost();
    await team.hear({ type: 'app_uninstalled' });
    const refreshes = () => team.slack.traffic().filter(({ what }) => what === 'oauth.v2.access').length;
    await expect.poll(refreshes).toBe(2);
    team.system.move(MINUTE_MS);
    await team.settle();
    expect([await isKept(team), refreshes()]).toEqual([true, 3]);
    await team.owner.types('/vps list');
    await team.owner.sees('Slack no longer accepts this app’s token');
    await team.install(team.first);
    await team.owner.types('/vps list');
    await team.owner.sees('There are no servers');
  });

  it('in a renewal keeps the workspace when an event comes after it', async () => {
    await using team = await startLost();
    await team.owner.types('/vps status');
    await team.owner.sees('What the app may do in Slack');
    await team.hear({ type: 'tokens_revoked', tokens: { bot: ['U0VPSBOT01'] } });
    await team.settle();
    expect(await isKept(team)).toBe(true);
    await team.restart();
    await team.hear({ type: 'app_uninstalled' });
    await team.settle();
    expect(await isKept(team)).toBe(true);
  });
});
