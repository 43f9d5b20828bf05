import { expect, it } from 'vitest';
import { passwordOf } from '../../support/acts.ts';
import { MODES, startTeam } from '../../support/team.ts';

it.concurrent.each(
  MODES,
)('the main job goes from /vps create to the root password, a reboot, a renewal and a delete, over %s', async (mode) => {
  await using team = await startTeam({ mode });
  const { slack, hosting, account } = team;
  const manager = slack.as('mara');

  await manager.types('/vps create');
  await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'web-1' });
  await manager.presses('Review');
  await manager.sees('5.90 per month');
  await manager.presses('Create and pay');
  await manager.sees('is being created (');
  await manager.sees(passwordOf(team));
  expect(hosting.charges(account)).toHaveLength(1);
  await manager.closes();
  await manager.presses("I've saved it");

  await manager.types('/vps reboot web-1');
  await slack.as('vera').sees('rebooted');

  await manager.types('/vps renew web-1');
  await manager.sees('5.90');
  await manager.presses('Renew and pay');
  await manager.sees('was renewed');
  expect(hosting.charges(account)).toHaveLength(2);
  await manager.closes();

  await manager.types('/vps delete web-1');
  await manager.sees('no refund');
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
  await manager.presses('Delete');
  await manager.sees('was deleted');
  expect(hosting.listServers(account)).toEqual([]);
  expect(slack.brokenRules()).toEqual([]);
});
