import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { type Installs, startInstalls } from '../../support/installs.ts';
import { movableSystem } from '../../support/movable-system.ts';
import type { LocalSlack } from '../../support/slack/local-slack.ts';
import type { TeamOptions } from '../../support/team.ts';

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
