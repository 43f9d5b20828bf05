import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { deleteServer, orderOf, passwordOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { CLIENT, type Installs, startInstalls } from '../../support/installs.ts';
import { postgresUrl } from '../../support/postgres.ts';
import type { LocalSlack } from '../../support/slack/local-slack.ts';
import type { TeamOptions } from '../../support/team.ts';

const ORG = 'E0SANDBOX';

/** Connects each workspace to a hosting account with two servers: alpha-1 and -2, beta-1 and -2. Returns the second one. */
async function connectBoth({ app, hosting, account, apiKey }: Installs) {
  const other = hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
  const otherKey = hosting.createKey(other, { beforeTopUp: true });
  await app.ports.apiKeys.put(TEAM.id, new Secret(apiKey), 'U0OWNER001', 0);
  await app.ports.apiKeys.put(SECOND_TEAM.id, new Secret(otherKey), 'U0OWNER001', 0);
  hosting.seedServers(account, 2, 'alpha');
  hosting.seedServers(other, 2, 'beta');
  return other;
}

/** An organization with two workspaces that were given the app, and a hosting account for each. */
async function startOrg(options: TeamOptions = {}) {
  const team = await startInstalls(options);
  for (const slack of [team.first, team.second]) slack.admin.joinGrid({ isOrgInstall: true });
  const page = await installForOrg(team);
  return Object.assign(team, { page, other: await connectBoth(team) });
}

async function installForOrg(team: Installs) {
  const browser = team.browser();
  return browser.open(await browser.allow(await browser.begin(), ORG, team.first.as('olga').id));
}

const ownerOf = (slack: LocalSlack) => slack.as('olga');

describe.concurrent('an app that is installed for a whole organization', () => {
  it('ends on a page that says so, and serves each workspace with one token and its own account once Slack says which have it', async () => {
    await using team = await startOrg();
    expect(team.page.text).toContain('It’s installed for the whole organization <b>Sandbox Group</b>');
    team.first.faults.failMethod('auth.teams.list', 'internal_error', 1);
    await ownerOf(team.first).types('/vps list');
    await ownerOf(team.first).sees('Try again in a minute');
    for (const [slack, own, others] of [
      [team.first, 'alpha-1', 'beta'],
      [team.second, 'beta-1', 'alpha'],
    ] as const) {
      expect(await tells(slack, '/vps list', own)).not.toContain(others);
    }
  });

  it('serves a workspace that uses it for the first time long after the install, with a renewed token', async ({
    expect,
  }) => {
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
  });

  it('acts in the workspace of the message or the form whose button is pressed, and refuses a press that names none', async () => {
    await using team = await startOrg();
    const changes = () => team.hosting.requests().filter(({ method }) => method !== 'GET').length;
    const owner = ownerOf(team.second);
    await owner.types('/vps show beta-1');
    await owner.presses('Reboot');
    await owner.sees('@olga rebooted beta-1');
    expect(changes()).toBe(1);
    expect(await auditOf(team, SECOND_TEAM.id)).toContain('reboot done');
    await team.second.deliverAltered(team.second.lastDelivery('block_actions'), (payload) => ({
      ...payload,
      actions: (payload.actions as object[]).map((action) => ({
        ...action,
        block_id: 'old',
        action_ts: '9.9',
      })),
    }));
    await owner.sees('Slack didn’t say which workspace this is about');
    expect(changes()).toBe(1);
    await owner.types('/vps create');
    await owner.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'gamma' });
    await owner.submits();
    await owner.presses('Create and pay');
    await owner.sees('gamma is being created');
    expect([team.hosting.charges(team.account).length, team.hosting.charges(team.other).length]).toEqual([
      0, 1,
    ]);
    await deleteServer(owner, 'beta-1');
    expect(team.hosting.listServers(team.account)).toHaveLength(2);
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

  it('stops serving a workspace that the app was taken from', async ({ expect }) => {
    await using team = await startOrg();
    const owner = ownerOf(team.second);
    await owner.types('/vps status');
    await owner.sees('API requests this minute');
    expect(await team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(true);
    team.second.admin.joinGrid({ isOrgInstall: false });
    await owner.types('/vps reboot beta-1'); // is to be announced, which Slack refuses
    await expect.poll(() => team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(false);
    await owner.types('/vps list', { isForced: true });
    await owner.sees('vps isn’t installed in this workspace');
    await ownerOf(team.first).types('/vps list');
    await ownerOf(team.first).sees('alpha-1');
  });

  it('is uninstalled in all of its workspaces at once', async ({ expect }) => {
    await using team = await startOrg();
    for (const slack of [team.first, team.second]) await tells(slack, '/vps list', '2 servers');
    await team.first.uninstallApp();
    const { apiKeys, installationStore } = team.app.ports;
    await expect.poll(() => installationStore.find(ORG)).toBeUndefined();
    expect(await apiKeys.listWorkspaces()).toEqual([]);
  });

  it('makes the user who installed it an owner of each workspace without one', async () => {
    await using team = await startInstalls();
    for (const slack of [team.first, team.second]) slack.admin.joinGrid({ isOrgInstall: true });
    await installForOrg(team);
    await ownerOf(team.second).types('/vps help');
    await ownerOf(team.second).sees('List servers and manage one');
    const installer = team.first.as('olga').id;
    expect(await team.app.ports.grants.list(SECOND_TEAM.id)).toMatchObject([
      { subjectId: installer, role: 'owner' },
    ]);
    expect(await team.app.ports.grants.list(TEAM.id)).toEqual([]);
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
  for (const slack of [team.first, team.second])
    expect((await team.install(slack)).text).toContain('installed');
  return Object.assign(team, { other: await connectBoth(team) });
}

async function tells(
  slack: LocalSlack,
  command: string,
  words: string,
  who: 'olga' | 'vera' | 'otto' = 'olga',
): Promise<string> {
  const user = slack.as(who);
  await user.types(command);
  await user.sees(words);
  return user
    .messages()
    .map(({ shown }) => shown)
    .join('\n');
}

describe.concurrent('two workspaces with the same app', () => {
  it('see their own servers and audit, and act on their own account with their own token, also after a restart', async ({
    expect,
  }) => {
    await using team = await startTwo();
    expect(await tells(team.first, '/vps list', 'alpha-1')).not.toContain('beta');
    expect(await tells(team.second, '/vps list', 'beta-1')).not.toContain('alpha');
    expect(await tells(team.second, '/vps show alpha-1', 'No server matches')).not.toContain('203.');
    await tells(team.second, '/vps reboot beta-1', 'rebooted beta-1');
    await expect.poll(() => auditOf(team, SECOND_TEAM.id)).toContain('reboot done');
    expect(team.hosting.requests().filter(({ method }) => method !== 'GET')).toHaveLength(1);
    expect(team.hosting.listServers(team.account).map(({ state }) => state)).toEqual(['running', 'running']);
    expect(await auditOf(team, TEAM.id)).not.toContain('reboot');
    expect(await tells(team.first, '/vps audit', 'installed the app')).not.toContain('beta');
    await team.restart();
    team.second.as('olga').reloads();
    expect(await tells(team.second, '/vps list', 'beta-1')).not.toContain('alpha-1 ·');
  });

  it('have their own owners: from their install, and from OWNERS for the workspace that an entry names', async ({
    expect,
  }) => {
    const [first, second] = [`${TEAM.id}:U0VIEWER01`, `${SECOND_TEAM.id}:USEC0OPERATOR`];
    await using team = await startTwo({ settings: { OWNERS: `${first}, ${second}` } });
    const stranger = { user_id: team.first.as('olga').id };
    const fields = team.second.commandFields('nora', '#ops', 'list');
    await team.second.deliverSigned({ fields: { ...fields, ...stranger } });
    await expect.poll(() => auditOf(team, SECOND_TEAM.id)).toContain('list denied role_needed');
    expect(team.hosting.requests()).toEqual([]);
    const { ownersOf } = team.app.ports;
    expect([ownersOf(TEAM.id), ownersOf(SECOND_TEAM.id)]).toEqual([['U0VIEWER01'], ['USEC0OPERATOR']]);
    await tells(team.first, '/vps access', 'Roles', 'vera');
    await tells(team.first, '/vps access', 'You need the owner role', 'otto');
    await tells(team.second, '/vps access', 'Roles', 'otto');
  });

  test.skipIf(!postgresUrl)(
    'that share PostgreSQL each pay once when both order the same label at once, and are independent when one uninstalls',
    async ({ expect }) => {
      await using team = await startTwo({ engine: 'postgres' });
      const { hosting, account, other, first, second } = team;
      const owners = [first, second].map(ownerOf);
      await Promise.all(owners.map((owner) => owner.types(orderOf('web-1'))));
      await Promise.all(owners.map((owner) => owner.presses('Create and pay')));
      const passwords = await Promise.all(
        [account, other].map(async (one, at) => {
          await owners[at]?.sees("I've saved it");
          return passwordOf({ hosting, account: one });
        }),
      );
      expect([account, other].map((one) => hosting.charges(one).length)).toEqual([1, 1]);
      const seen = owners.map((owner) => passwords.map((password) => owner.screen().includes(password)));
      expect(seen).toEqual([
        [true, false],
        [false, true],
      ]);
      await first.uninstallApp();
      const left = async () => {
        const { installationStore, apiKeys, passwords: held } = team.app.ports;
        const count = (await held.listHeld(TEAM.id)).length;
        return [await installationStore.find(TEAM.id), await apiKeys.find(TEAM.id), count];
      };
      await expect.poll(left).toEqual([undefined, undefined, 0]);
      await team.restart();
      expect(await left()).toEqual([undefined, undefined, 0]);
      await tells(second, '/vps password web-1', 'Root password of web-1');
      for (const id of [TEAM.id, SECOND_TEAM.id])
        expect(await team.app.ports.audit.verify(id)).toMatchObject({ ok: true });
      expect((await team.install(first)).text).toContain('installed');
      await tells(first, '/vps list', 'No hosting account is connected');
    },
  );
});

async function auditOf(team: Installs, workspaceId: string): Promise<string> {
  const entries = await team.app.ports.audit.list({ workspaceId, limit: 50 });
  return entries
    .map(({ action, outcome, code }) => [action, outcome, code].filter(Boolean).join(' '))
    .join('\n');
}
