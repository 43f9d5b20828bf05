import { expect, it } from 'vitest';
import { startTeam } from '../../support/team.ts';

it('the delete form opens, and says what is lost, even if Slack refuses alert blocks', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, 1, 'web');
  team.slack.faults.refuseBlock('alert');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps delete web-1');
  await manager.sees('no refund');
  await manager.fills({ 'Type the label to delete it': 'web-1' });
  await manager.presses('Delete');
  await manager.sees('web-1 was deleted');
  expect(team.hosting.listServers(team.account)).toEqual([]);
});
