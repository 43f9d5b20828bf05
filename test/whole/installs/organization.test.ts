import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { CLIENT, type Installs, startInstalls } from '../../support/installs.ts';
import { movableSystem } from '../../support/movable-system.ts';
import type { LocalSlack } from '../../support/slack/local-slack.ts';
import type { TeamOptions } from '../../support/team.ts';

const ORG = 'E0SANDBOX';

/** An organization with two workspaces that were given the app, and a hosting account for each. */
async function startOrg(options: TeamOptions = {}) {
  const team = await startInstalls(options);
  for (const slack of [team.first, team.second]) slack.admin.joinGrid({ isOrgInstall: true });
  const page = await installForOrg(team);
  const account = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
  const { apiKeys } = team.app.ports;
  await apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
  const key = team.hosting.createKey(account, { beforeTopUp: true });
  await apiKeys.put(SECOND_TEAM.id, new Secret(key), 'U0OWNER001', 0);
  team.hosting.seedServers(team.account, 2, 'alpha');
  team.hosting.seedServers(account, 2, 'beta');
  return Object.assign(team, { page, other: account });
}

async function installForOrg(team: Installs) {
  const browser = team.browser();
  return browser.open(await browser.allow(await browser.begin(), ORG, team.first.as('olga').id));
}

const ownerOf = (slack: LocalSlack) => slack.as('olga').in('#ops');

describe('an app that is installed for a whole organization', () => {
  it('ends on a page that says so, and serves each workspace with one token and its own account', async () => {
    await using team = await startOrg();
    expect(team.page.text).toContain('It’s installed for the whole organization <b>Sandbox Group</b>');
    for (const [slack, own, others] of [
      [team.first, 'alpha-1', 'beta'],
      [team.second, 'beta-1', 'alpha'],
    ] as const) {
      const owner = ownerOf(slack);
      await owner.types('/vps list');
      await owner.sees(own);
      expect(
        owner
          .messages()
          .map(({ shown }) => shown)
          .join(),
      ).not.toContain(others);
      expect(slack.brokenRules()).toEqual([]);
    }
  });

  it('serves a workspace that uses it for the first time long after the install, with a renewed token', async () => {
    const system = movableSystem();
    const redirectUrls = ['http://127.0.0.1/slack/oauth_redirect'];
    const oauth = { ...CLIENT, redirectUrls, rotatesTokens: true };
    await using team = await startOrg({ system, clock: system, slackApp: { oauth } });
    const expiry = async () =>
      (await team.app.ports.installationStore.find(ORG))?.tokens.rotation?.expiresAt ?? 0;
    const before = await expiry();
    system.move(13 * HOUR_MS);
    await expect.poll(expiry).toBeGreaterThan(before);
    const owner = ownerOf(team.second);
    await owner.types('/vps list');
    await owner.sees('beta-1');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('acts in the workspace of the message when one of its buttons is pressed', async () => {
    await using team = await startOrg();
    const owner = ownerOf(team.second);
    await owner.types('/vps show beta-1');
    await owner.presses('Reboot');
    await owner.sees('@olga rebooted beta-1');
    const rebooted = team.hosting.requests().filter(({ method }) => method !== 'GET');
    expect(rebooted).toHaveLength(1);
    const entries = await team.app.ports.audit.list({ workspaceId: SECOND_TEAM.id, limit: 20 });
    expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toContain('reboot done');
  });

  it('acts in the workspace in which a form was opened, also for its menus and its outcome', async () => {
    await using team = await startOrg();
    const owner = ownerOf(team.second);
    await owner.types('/vps create');
    await owner.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'gamma' });
    await owner.submits();
    await owner.presses('Create and pay');
    await owner.sees('gamma is being created');
    expect([team.hosting.charges(team.account).length, team.hosting.charges(team.other).length]).toEqual([
      0, 1,
    ]);
    await owner.types('/vps delete beta-1');
    await owner.fills({ 'To confirm, type beta-1': 'beta-1' });
    await owner.presses('Delete');
    await owner.sees('beta-1 was deleted');
    expect(team.hosting.listServers(team.account)).toHaveLength(2);
    expect(team.second.brokenRules()).toEqual([]);
  });

  it('refuses a press that names no workspace, with an explanation', async () => {
    await using team = await startOrg();
    const owner = ownerOf(team.first);
    await owner.types('/vps show alpha-1');
    await owner.presses('Reboot');
    await owner.sees('@olga rebooted alpha-1');
    const press = team.first.deliveries().findLast(({ what }) => what.startsWith('block_actions'));
    if (!press) throw new Error('nothing was pressed');
    const before = team.hosting.requests().filter(({ method }) => method !== 'GET').length;
    await team.first.deliverAltered(press, (payload) => ({
      ...payload,
      actions: (payload.actions as object[]).map((action) => ({
        ...action,
        block_id: 'old',
        action_ts: '9.9',
      })),
    }));
    await owner.sees('Slack didn’t say which workspace this is about');
    expect(team.hosting.requests().filter(({ method }) => method !== 'GET')).toHaveLength(before);
  });

  it('does not serve a workspace that was not given the app, even for a signed request', async () => {
    await using team = await startOrg();
    team.second.admin.joinGrid({ isOrgInstall: false });
    const fields = { ...team.second.commandFields('olga', '#ops', 'list'), is_enterprise_install: 'true' };
    await team.second.deliverSigned({ fields });
    await ownerOf(team.second).sees('vps isn’t installed in this workspace');
    expect(await team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(false);
    expect(await team.app.ports.audit.list({ workspaceId: SECOND_TEAM.id, limit: 1 })).toEqual([]);
  });

  it('stops serving a workspace that the app was taken from', async () => {
    await using team = await startOrg();
    const owner = ownerOf(team.second);
    await owner.types('/vps status');
    await owner.sees('User lookups: OK');
    expect(await team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(true);
    team.second.admin.joinGrid({ isOrgInstall: false });
    await owner.types('/vps reboot beta-1'); // is to be announced, which Slack refuses
    await expect.poll(() => team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(false);
    await owner.types('/vps list', { isForced: true });
    await owner.sees('vps isn’t installed in this workspace');
    await ownerOf(team.first).types('/vps list');
    await ownerOf(team.first).sees('alpha-1');
  });

  it('asks users to wait while Slack doesn’t say which workspaces have the app', async () => {
    await using team = await startOrg();
    team.first.faults.failMethod('auth.teams.list', 'internal_error', 1);
    await ownerOf(team.first).types('/vps list');
    await ownerOf(team.first).sees('Try again in a minute');
    await ownerOf(team.first).types('/vps list');
    await ownerOf(team.first).sees('alpha-1');
  });

  it('makes the user who installed it an owner of each workspace without one', async () => {
    await using team = await startInstalls();
    for (const slack of [team.first, team.second]) slack.admin.joinGrid({ isOrgInstall: true });
    await installForOrg(team);
    await ownerOf(team.second).types('/vps help');
    await ownerOf(team.second).sees('/vps list');
    const installer = team.first.as('olga').id;
    expect(await team.app.ports.grants.list(SECOND_TEAM.id)).toMatchObject([
      { subjectId: installer, role: 'owner' },
    ]);
    expect(await team.app.ports.grants.list(TEAM.id)).toEqual([]);
  });

  it('is uninstalled in all of its workspaces at once', async () => {
    await using team = await startOrg();
    for (const slack of [team.first, team.second]) {
      await ownerOf(slack).types('/vps list');
      await ownerOf(slack).sees('2 servers');
    }
    await team.first.uninstallApp();
    const { apiKeys, installationStore } = team.app.ports;
    await expect.poll(() => installationStore.find(ORG)).toBeUndefined();
    expect(await apiKeys.listWorkspaces()).toEqual([]);
  });

  it('needs the organization in ALLOWED_WORKSPACES, which allows its workspaces one by one as well', async () => {
    await using refused = await startOrg({ settings: { ALLOWED_WORKSPACES: TEAM.id } });
    expect(refused.page.status).toBe(403);
    await using team = await startInstalls({ settings: { ALLOWED_WORKSPACES: ORG } });
    team.first.admin.joinGrid();
    expect((await team.install(team.first)).status).toBe(200);
    expect((await team.install(team.second)).status).toBe(403);
  });
});
