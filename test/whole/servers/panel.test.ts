import { expect, it } from 'vitest';
import { startTeam } from '../../support/team.ts';

it('bare /vps tells an owner what to do first, and others whom to ask', async () => {
  await using team = await startTeam({ isConnected: false });
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps');
  await owner.sees('Connect your hosting account');
  await owner.presses('Connect…');
  await owner.sees('Enter');
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps');
  await operator.sees('No hosting account is connected');
  operator.doesNotSee('Connect…');
  const nora = team.slack.as('nora').in('#ops');
  await nora.types('/vps');
  await nora.sees('You don’t have a role yet');
  await nora.presses('Ask for access');
  await expect.poll(() => nora.modal() !== undefined, { timeout: 10_000 }).toBe(true);
});

it('bare /vps shows five servers, recently used first, with the buttons that its user may press', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, 30, 'web');
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps stop web-17');
  await operator.sees('stopped web-17');
  operator.overlooksOldMessages();
  await operator.types('/vps');
  await operator.sees('Showing 5 of 30 servers');
  const shown = operator.screen();
  expect(shown.indexOf('web-17')).toBeGreaterThan(0);
  expect(shown.indexOf('web-17')).toBeLessThan(shown.indexOf('web-1*'));
  operator.doesNotSee('Create a server');
  await operator.presses('Manage');
  await operator.sees('ssh root@');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps');
  await manager.sees('Create a server…');
  expect(team.slack.brokenRules()).toEqual([]);
});

it('bare /vps counts the root passwords that its user has not saved, and shows them', async () => {
  await using team = await startTeam();
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create plan=micro location=ams image=debian-13 label=web-1');
  await manager.presses('Create and pay');
  await manager.sees('web-1 is being created');
  if (manager.modal()) await manager.closes();
  manager.overlooksOldMessages();
  await manager.types('/vps');
  await manager.sees('The root password of web-1 isn’t saved yet');
  const owner = team.slack.as('olga').in('#ops').overlooksOldMessages();
  await owner.types('/vps');
  await owner.sees('web-1');
  owner.doesNotSee('root password');
  await manager.presses('Show password');
  await manager.sees(/I[’']ve saved it/);
});
