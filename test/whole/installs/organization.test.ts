import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/clocks.ts';
import { CLIENT, type Installs, startInstalls } from '../../support/installs.ts';
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

/** Two workspaces, each with an owner, a hosting account and two servers of its own. */
async function startTwo(options: TeamOptions = {}) {
  const team = await startInstalls(options);
  await team.install(team.first);
  await team.install(team.second);
  const account = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
  const keys = {
    [TEAM.id]: team.apiKey,
    [SECOND_TEAM.id]: team.hosting.createKey(account, { beforeTopUp: true }),
  };
  for (const [id, key] of Object.entries(keys))
    await team.app.ports.apiKeys.put(id, new Secret(key), 'U0OWNER001', 0);
  team.hosting.seedServers(team.account, 2, 'alpha');
  team.hosting.seedServers(account, 2, 'beta');
  return Object.assign(team, { other: account });
}

async function tells(slack: LocalSlack, command: string, words: string): Promise<string> {
  const owner = slack.as('olga').in('#ops');
  await owner.types(command);
  await owner.sees(words);
  return owner
    .messages()
    .map(({ shown }) => shown)
    .join('\n');
}

describe('two workspaces with the same app', () => {
  it('see their own servers, and nothing about the other’s', async () => {
    await using team = await startTwo();
    expect(await tells(team.first, '/vps list', 'alpha-1')).not.toContain('beta');
    expect(await tells(team.second, '/vps list', 'beta-1')).not.toContain('alpha');
    expect(await tells(team.second, '/vps show alpha-1', 'No server matches')).not.toContain('203.');
  });

  it('act on their own account, with their own token', async () => {
    await using team = await startTwo();
    await tells(team.second, '/vps reboot beta-1', 'beta-1');
    const changes = () => team.hosting.requests().filter(({ method }) => method !== 'GET');
    await expect.poll(() => changes().length).toBe(1);
    expect(team.hosting.listServers(team.account).map(({ state }) => state)).toEqual(['running', 'running']);
    expect(team.slack.brokenRules()).toEqual([]);
    expect(team.second.brokenRules()).toEqual([]);
  });

  it('pay from their own balance, and the creator alone sees the password', async () => {
    await using team = await startTwo();
    const owner = team.second.as('olga').in('#ops');
    await owner.types('/vps create plan=small location=ams image=debian-13 label=gamma');
    await owner.presses('Create and pay');
    await owner.sees('gamma is being created');
    expect([team.hosting.charges(team.account).length, team.hosting.charges(team.other).length]).toEqual([
      0, 1,
    ]);
    const { passwords } = team.app.ports;
    expect(await passwords.listHeld(TEAM.id)).toEqual([]);
    expect(await passwords.listHeld(SECOND_TEAM.id)).toHaveLength(1);
  });

  it('have their own owners: an owner of one has no role in the other', async () => {
    await using team = await startTwo();
    const stranger = { user_id: team.first.as('olga').id };
    const fields = team.second.commandFields('nora', '#ops', 'list');
    await team.second.deliverSigned({ fields: { ...fields, ...stranger } });
    await expect.poll(() => auditOf(team, SECOND_TEAM.id)).toContain('list denied role_needed');
    expect(team.hosting.requests()).toEqual([]);
  });

  it('get their owners from OWNERS only for the workspace that an entry names', async () => {
    const [first, second] = [`${TEAM.id}:U0VIEWER01`, `${SECOND_TEAM.id}:USEC0OPERATOR`];
    await using team = await startTwo({ settings: { OWNERS: `${first}, ${second}` } });
    const { ownersOf } = team.app.ports;
    expect([ownersOf(TEAM.id), ownersOf(SECOND_TEAM.id)]).toEqual([['U0VIEWER01'], ['USEC0OPERATOR']]);
    await tellsUser(team.first, 'vera', '/vps access', 'Roles');
    await tellsUser(team.first, 'otto', '/vps access', 'You need the owner role');
    await tellsUser(team.second, 'otto', '/vps access', 'Roles');
  });

  it('have their own audit', async () => {
    await using team = await startTwo();
    await tells(team.first, '/vps reboot alpha-1', 'alpha-1');
    await expect.poll(() => auditOf(team, TEAM.id)).toContain('reboot done');
    expect(await auditOf(team, SECOND_TEAM.id)).not.toContain('reboot');
    expect(await tells(team.second, '/vps audit', 'installed the app')).not.toContain('alpha');
  });

  it('keep working after a restart', async () => {
    await using team = await startTwo();
    await team.restart();
    expect(await tells(team.second, '/vps list', 'beta-1')).not.toContain('alpha');
  });

  it('each report the scopes that the app has there', async () => {
    await using team = await startTwo();
    team.second.app.scopes = ['commands', 'chat:write'];
    await tells(team.second, '/vps status', 'Add the scope users:read and reinstall the app');
    expect(await tells(team.first, '/vps status', 'User lookups: OK')).not.toContain('reinstall');
  });
});

describe('a repeated install that adds scopes', () => {
  it('takes effect within six minutes', async () => {
    const system = movableSystem();
    await using team = await startTwo({ system });
    team.first.app.scopes = ['commands', 'chat:write'];
    await tells(team.first, '/vps status', 'Add the scope users:read');
    await team.install(team.first);
    expect(await team.app.ports.installationStore.find(TEAM.id)).toMatchObject({
      generation: 2,
      scopes: expect.arrayContaining(['users:read', 'groups:read']),
    });
    system.move(6 * 60_000);
    await tells(team.first, '/vps status', 'User lookups: OK');
  });
});

async function tellsUser(slack: LocalSlack, who: 'vera' | 'otto', command: string, words: string) {
  const user = slack.as(who).in('#ops');
  await user.types(command);
  await user.sees(words);
}

async function auditOf(team: Installs, workspaceId: string): Promise<string> {
  const entries = await team.app.ports.audit.list({ workspaceId, limit: 50 });
  return entries
    .map(({ action, outcome, code }) => [action, outcome, code].filter(Boolean).join(' '))
    .join('\n');
}
