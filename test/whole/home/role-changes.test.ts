import { expect, it } from 'vitest';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { startTeam, type Team } from '../../support/team.ts';

const PATIENT = { timeout: 20_000 };

async function startWithServers(more: Parameters<typeof startTeam>[0] = {}): Promise<Team> {
  const team = await startTeam(more);
  team.hosting.seedServers(team.account, 2, 'web');
  return team;
}

const homeOf = (team: Team, name: Parameters<Team['slack']['as']>[0]) =>
  team.slack.as(name).home()?.shown ?? '';
const publishedFor = (team: Team) =>
  team.slack.traffic().filter(({ from, what }) => from === 'app' && what.includes('views.publish')).length;

it('an open Home is updated when its user is granted a role, and when the role is revoked', async () => {
  await using team = await startWithServers();
  const owner = team.slack.as('olga').in('#ops');
  await team.slack.as('nora').opensHome();
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('You don’t have a role yet');
  await owner.types('/vps access grant @nora operator');
  await owner.sees('is now an operator');
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('Servers (2)');
  await owner.types('/vps access revoke @nora');
  await owner.sees('role was revoked');
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('You don’t have a role yet');
  expect(homeOf(team, 'nora')).not.toContain('web-1');
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a revoked role removes the servers from its user’s Home, however long ago they opened it', async () => {
  const system = movableSystem();
  await using team = await startWithServers({ system });
  await team.slack.as('otto').opensHome();
  await expect.poll(() => homeOf(team, 'otto'), PATIENT).toContain('Servers (2)');
  system.move(3 * 24 * 3_600_000);
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps access revoke @otto');
  await owner.sees('role was revoked');
  await expect.poll(() => homeOf(team, 'otto'), PATIENT).toContain('You don’t have a role yet');
});

it('an approved request for a role updates the requester’s Home, however long ago they opened it', async () => {
  const system = movableSystem();
  await using team = await startWithServers({ system });
  const newcomer = team.slack.as('nora').in('#ops');
  await newcomer.opensHome();
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('You don’t have a role yet');
  await newcomer.types('/vps access ask viewer');
  await newcomer.fills({ 'Why do you need it?': 'on call' });
  await newcomer.presses('Send request');
  const owner = team.slack.as('olga').in('dm');
  await owner.sees('is requesting the viewer role');
  system.move(3_600_000);
  await owner.presses('Approve for 8 h');
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('Servers (2)');
});

it('a role granted to a user group updates the Home of each member who has opened it', async () => {
  await using team = await startWithServers({ hasRoles: false });
  const group = team.slack.admin.group('@oncall');
  group.users.clear();
  for (const { id } of [USERS.nora, USERS.vera]) group.users.add(id);
  await team.slack.as('nora').opensHome();
  await team.slack.as('otto').opensHome();
  await expect.poll(() => homeOf(team, 'otto'), PATIENT).toContain('You don’t have a role yet');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps access grant <!subteam^S0ONCALL01|@oncall> viewer');
  await owner.sees('viewer');
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('Servers (2)');
  expect(homeOf(team, 'otto')).toContain('You don’t have a role yet');
  expect(team.slack.as('vera').home()).toBeUndefined();
});

it('a temporary role that expires removes the servers from its user’s Home', async () => {
  const system = movableSystem();
  await using team = await startWithServers({ system });
  await team.slack.as('nora').opensHome();
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('You don’t have a role yet');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps access grant @nora operator for 1h');
  await expect.poll(() => homeOf(team, 'nora'), PATIENT).toContain('Servers (2)');
  system.move(3_600_001);
  await expect.poll(() => homeOf(team, 'nora'), { timeout: 90_000 }).toContain('You don’t have a role yet');
}, 120_000);

it('roles can be changed even if Slack refuses to update Home', async () => {
  await using team = await startWithServers();
  await team.slack.as('otto').opensHome();
  await expect.poll(() => homeOf(team, 'otto'), PATIENT).toContain('Servers (2)');
  const before = publishedFor(team);
  team.slack.faults.failMethod('views.publish', 'internal_error');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps access revoke @otto');
  await owner.sees('role was revoked');
  await expect.poll(() => publishedFor(team), PATIENT).toBeGreaterThan(before);
  await owner.types('/vps access grant @otto viewer');
  await owner.sees('is now a viewer');
  expect(team.slack.brokenRules()).toEqual([]);
});
