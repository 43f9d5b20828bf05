import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../src/core/time.ts';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { askForRole, createServer } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { showServersAs } from '../../support/other-answers.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';
import { audited, grantsOf, openRequests } from './support.ts';

async function startWithServers(options: TeamOptions = {}) {
  const team = await startTeam({ servers: 2, ...options });
  team.hosting.seedServers(team.account, 1, 'db');
  return team;
}

describe.concurrent('a role granted to a user group', () => {
  it('applies to its members, says why, and ends when they leave the group', async () => {
    await using team = await startWithServers();
    const { slack } = team;
    const owner = slack.as('olga');
    const nora = slack.as('nora');
    await owner.types('/vps access grant @oncall operator');
    await owner.sees('Members of @oncall are now operators');
    await nora.types('/vps reboot web-1');
    await nora.sees('rebooted web-1');
    await owner.types('/vps access @nora');
    await owner.sees('operator: through @oncall');
    await owner.types('/vps access revoke @oncall');
    await owner.sees('The role of @oncall was revoked');
    await nora.types('/vps reboot web-1');
    await nora.sees('You need the operator role');
  });
});

describe.concurrent('a role granted to a channel', () => {
  it('applies to full members who act there, or in a form that was opened there, and nowhere else', async () => {
    await using team = await startWithServers();
    await team.owner.types('/vps access grant #ops viewer');
    await team.owner.sees('In #ops, full members are now viewers');
    const nora = team.slack.as('nora');
    await nora.in('#ops').types('/vps list');
    await nora.in('#ops').sees('web-1');
    await nora.in('dm').types('/vps list');
    await nora.in('dm').sees('You don’t have a role yet');
    const guest = team.slack.as('gus');
    await guest.types('/vps list');
    await guest.sees('You don’t have a role yet');
    await team.owner.types('/vps access grant #ops manager');
    await team.owner.sees('In #ops, full members are now managers');
    const view = (channelId: string) => ({ private_metadata: JSON.stringify(envelope({}, 'F1', channelId)) });
    const types = (channelId: string) =>
      rawUser(team, 'nora').interacts('block_suggestion', {
        channel: undefined,
        action_id: 'create.plan',
        block_id: 'plan',
        value: '',
        view: view(channelId),
      });
    expect((await types('C0OPS00001')).response).toContain('small');
    expect((await types('C0RANDOM01')).response).toBe('{"options":[]}');
  });

  it('pays for nothing once its user has left the channel, in a form that they opened there before either', async ({
    expect,
  }) => {
    await using team = await startWithServers();
    await grantRole(team, 'C0OPS00001', 'manager', { subjectKind: 'channel' });
    const nora = team.slack.as('nora').in('#ops');
    await nora.types('/vps renew web-1');
    await nora.sees('Renew and pay');
    team.slack.admin.channel('#ops').members.delete(nora.id);
    await nora.presses('Renew and pay');
    await expect.poll(() => nora.modal()?.shown).toContain('You need the manager role');
    expect(team.hosting.charges(team.account)).toEqual([]);
  });
});

describe.concurrent('a role for some servers', () => {
  it('lists, offers and changes only those', async () => {
    await using team = await startWithServers();
    const nora = team.slack.as('nora');
    await team.owner.types('/vps access grant @nora manager on web-*');
    await team.owner.sees('2 servers');
    await nora.types('/vps list');
    await nora.sees('web-1');
    expect(nora.messages().at(-1)?.shown).not.toContain('db-1');
    await nora.types('/vps reboot db-1');
    await nora.sees('You need the operator role for db-1; you’re a manager for other servers');
    await nora.types('/vps delete db-1');
    await nora.sees('You need the manager role for db-1');
    await nora.closes();
    await nora.types('/vps create plan=micro location=ams image=debian-13 label=db-2');
    await nora.sees('You need the manager role for db-2');
    await nora.closes();
    await createServer(nora, 'web-9');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    expect(
      team.hosting.requests().filter(({ method, path }) => method !== 'GET' && path.includes('3')),
    ).toEqual([]);
  });

  it('doesn’t show the new label of a server that was renamed since, in Show server or the outcome of a renewal', async () => {
    await using team = await startWithServers();
    const nora = team.slack.as('nora').in('#ops');
    await grantRole(team, nora.id, 'manager', { pattern: 'web-*' });
    await nora.types('/vps start web-1');
    await nora.sees('web-1 is already running');
    await nora.types('/vps renew web-1');
    await nora.sees('Renew and pay');
    showServersAs(team, { label: 'secret-1' });
    await nora.presses('Renew and pay');
    await nora.sees('web-1 wasn’t renewed');
    await nora.closes();
    await nora.presses('Show server');
    await nora.sees('You need the viewer role for this server');
    expect(nora.screen()).not.toContain('secret-1');
    expect(team.hosting.requests({ operation: 'renew' })).toEqual([]);
  });

  it('doesn’t show the new label of a server that is renamed while it is started, when that fails', async () => {
    await using team = await startWithServers();
    const nora = team.slack.as('nora').in('#ops');
    await grantRole(team, nora.id, 'operator', { pattern: 'web-*' });
    showServersAs(team, { label: 'secret-1' }, ({ freshness }) => freshness === 'fresh');
    await nora.types('/vps start web-1');
    await nora.sees('web-1 is already running, so it wasn’t started');
    expect(nora.screen()).not.toContain('secret-1');
  });

  it('is granted with a note when its pattern matches no server yet, and offers no other server', async () => {
    await using team = await startWithServers();
    await team.owner.types('/vps access grant @nora viewer on mail-*');
    await team.owner.sees('No server matches mail-* yet');
    team.hosting.seedServers(team.account, 2, 'queue');
    const nora = team.slack.as('nora');
    await nora.types('/vps show queue');
    await nora.sees('No server matches queue');
  });
});

it.concurrent('a role is refused, with the reason, to those who can’t have it', async () => {
  await using team = await startWithServers();
  const { admin } = team.slack;
  admin.group('@platform').isDisabled = true;
  const [archived, deleted] = ['#general', '#random'].map((name) => admin.channel(name).id);
  admin.archive('#general');
  admin.deleteChannel('#random');
  const noMember = 'Only active members and guests of this workspace can have roles';
  const nobodies = [USERS.sam.id, USERS.finn.id, 'U0DEPLOYER', 'USLACKBOT', 'U0NOSUCH01'];
  for (const [grant, words] of [
    ...nobodies.map((id) => [`<@${id}> operator`, noMember] as const),
    ['<!subteam^S0NOBODY01|@gone> operator', 'Slack doesn’t know this user group'],
    ['<!subteam^S0PLATFORM|@platform> operator', 'is disabled in Slack'],
    [`<#${archived}|general> viewer`, 'archived'],
    [`<#${deleted}|random> viewer`, 'it was deleted, or it’s private'],
    ['#ops owner', 'A channel can’t be an owner: anyone who joins it would become one'],
    ['@nora owner on web-*', 'Owners always have access to every server'],
  ] as const) {
    team.owner.overlooksOldMessages();
    await team.owner.types(`/vps access grant ${grant}`);
    await team.owner.sees(words);
    if (team.owner.modal()) await team.owner.closes();
  }
  expect(await grantsOf(team)).toHaveLength(3);
  admin.deactivate('otto');
  await expect(team.slack.as('otto').types('/vps list')).rejects.toThrow(SlackRefusal);
  await team.owner.types(`/vps access <@${USERS.otto.id}>`);
  await team.owner.sees('doesn’t have a role in this channel');
});

it.concurrent.each<[string, (slack: Team['slack']) => void]>([
  ['Slack didn’t answer', ({ faults }) => faults.failMethod('usergroups.list', 'fatal_error')],
  ['missing scope usergroups:read', ({ app }) => Object.assign(app, { scopes: ['commands', 'chat:write'] })],
])('a role is not granted to a group that Slack doesn’t show: %s', async (words, hide) => {
  await using team = await startWithServers();
  hide(team.slack);
  await team.owner.types('/vps access grant @oncall operator');
  await team.owner.sees(words);
  expect(await grantsOf(team)).toHaveLength(3);
});

it.concurrent('a temporary role ends on time, and its end is audited', async ({ expect }) => {
  const system = movableSystem();
  await using team = await startWithServers({ system });
  const nora = team.slack.as('nora');
  await team.owner.types('/vps access grant @nora operator on web-* for 1h');
  await team.owner.sees('@nora is now an operator for web-* (2 servers) until');
  expect((await audited(team, 'access_grant'))[0]?.label).toBe(`operator web-* ${USERS.nora.id} for 60 min`);
  await nora.types('/vps reboot web-1');
  await nora.sees('rebooted web-1');
  system.move(HOUR_MS + 1);
  await nora.types('/vps reboot web-1');
  await nora.sees('You don’t have a role yet');
  await expect.poll(() => audited(team, 'access_ended')).toMatchObject([{ actorId: 'app', outcome: 'done' }]);
  expect(await grantsOf(team)).toHaveLength(3);
  await team.owner.types('/vps audit since 1d');
  await team.owner.sees('The app ended');
});

it.concurrent('the access screen grants and revokes roles by buttons, as the typed commands do, and shows errors beside their fields', async ({
  expect,
}) => {
  await using team = await startWithServers();
  const { owner } = team;
  const nora = team.slack.as('nora');
  await owner.types('/vps access');
  await owner.sees('Owners');
  await owner.presses('Grant a role…');
  const wrong = 'Choose one: a user, a user group or a channel';
  const grants = async () => (await owner.presses('Grant'))?.response;
  await owner.fills({ Role: 'viewer' });
  expect(await grants()).toContain(wrong);
  await owner.fills({ User: 'nora', 'User group': '@oncall' });
  expect(await grants()).toContain(wrong);
  expect(await grantsOf(team)).toHaveLength(3);
  await owner.fills({
    User: '',
    'User group': '@oncall',
    Role: 'operator',
    'Limit to servers': 'web-*',
    Duration: '8 hours',
  });
  await owner.presses('Grant');
  await owner.sees('Members of @oncall are now operators for web-* (2 servers) until');
  await owner.closes();
  await nora.types('/vps reboot web-1');
  await nora.sees('rebooted web-1');
  await owner.overlooksOldMessages().types('/vps access');
  await owner.sees('Group @oncall: web-*, until');
  await owner.sees('[Revoke]');
  const ofGroup = (await grantsOf(team)).find(({ subjectKind }) => subjectKind === 'group');
  await rawUser(team, 'olga').presses('access_revoke', { grantId: ofGroup?.id, page: 0 });
  await expect
    .poll(async () => (await grantsOf(team)).map(({ role }) => role))
    .toEqual(['viewer', 'operator', 'manager']);
  expect((await audited(team, 'access_revoke'))[0]?.label).toBe('operator web-* S0ONCALL01 for 480 min');
  await nora.types('/vps reboot web-1');
  await nora.sees('You don’t have a role yet');
});

it.concurrent('the last owner can’t revoke their own role', async () => {
  await using team = await startTeam({
    settings: { OWNERS: '' },
    hasRoles: false,
    scopes: ['commands', 'chat:write'],
  });
  await grantRole(team, USERS.mara.id, 'owner');
  const { manager } = team;
  for (const words of ['revoke @mara', 'grant @mara viewer']) {
    await manager.overlooksOldMessages().types(`/vps access ${words}`);
    await manager.sees('without an owner');
  }
  await manager.types('/vps access grant @vera owner for 1h');
  await manager.sees('@vera is now an owner until');
  await manager.overlooksOldMessages().types('/vps access revoke @mara');
  await manager.sees('without an owner');
  await manager.types('/vps access grant @vera owner');
  await manager.sees('@vera is now an owner.');
  await manager.types('/vps access revoke @mara');
  await manager.sees('role was revoked');
  await manager.types('/vps access');
  await manager.sees('You need the owner role');
});

it.concurrent('/vps access for users who aren’t owners says which role they have, and lets them ask for the next one, but never for the owner role', async () => {
  await using team = await startTeam();
  const { viewer, manager } = team;
  const nora = team.slack.as('nora');
  await nora.types('/vps access');
  await nora.sees('You need the owner role to do this. You don’t have a role yet.');
  await nora.presses('Ask for access');
  await nora.sees('viewer');
  expect(await nora.optionsOf('Role')).not.toContain('owner');
  await viewer.types('/vps access');
  await viewer.sees('you’re a viewer');
  await viewer.presses('Ask for access');
  await viewer.fills({ 'Why do you need it?': 'on call' });
  await viewer.presses('Send request');
  await team.slack.as('olga').in('dm').sees('@vera is requesting the operator role');
  await manager.types('/vps access');
  await manager.sees('you’re a manager');
  manager.doesNotSee('[Ask for access]');
});

it.concurrent('an empty group of owners doesn’t count as an owner', async () => {
  await using team = await startTeam({ settings: { OWNERS: '' }, hasRoles: false });
  const { slack } = team;
  slack.admin.changeUser('olga', { isAdmin: false });
  slack.admin.group('platform').users.clear();
  await grantRole(team, USERS.mara.id, 'owner');
  const manager = slack.as('mara');
  await manager.types('/vps access grant @platform owner');
  await manager.sees('Members of @platform are now owners');
  await manager.types('/vps access revoke @mara');
  await manager.sees('without an owner');
});

it.concurrent('a request for access can be answered only once, and never by the requester; a denial is told and audited', async ({
  expect,
}) => {
  await using team = await startWithServers({
    settings: { OWNERS: `${USERS.olga.id} ${USERS.mara.id}` },
  });
  const { slack } = team;
  const viewer = slack.as('vera');
  await askForRole(viewer, 'manager', 'holidays');
  await viewer.sees('We’ll let you know');
  const [owner, manager] = [slack.as('olga').in('dm'), slack.as('mara').in('dm')];
  await owner.sees('is requesting the manager');
  await manager.sees('is requesting the manager');
  const [request] = await openRequests(team);
  await grantRole(team, USERS.vera.id, 'owner');
  await viewer.types('/vps access');
  await viewer.presses('Approve permanently');
  await viewer.sees('You can’t approve your own request');
  await owner.presses('Deny');
  await owner.sees('Denied by');
  await manager.sees('Denied by');
  await viewer.sees('denied your request for the manager role');
  expect(request?.requesterId).toBe(USERS.vera.id);
  await expect
    .poll(async () => (await audited(team, 'access_answer'))[0])
    .toMatchObject({ outcome: 'done', label: `deny manager ${USERS.vera.id}` });
  await rawUser(team, 'olga').presses('access_permanent', { id: request?.id });
  await slack.as('olga').sees('This request was already denied');
  expect((await grantsOf(team)).filter(({ role }) => role === 'manager')).toHaveLength(1);
});
