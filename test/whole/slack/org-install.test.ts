import { expect, it } from 'vitest';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

const faultsOf = async (appUrl: string) => (await fetch(`${appUrl}/readyz`)).text();

it('a token for a whole organization serves no user, and /readyz says what to do', async () => {
  await using team = await startTeam();
  team.slack.admin.joinGrid({ isOrgInstall: true });
  await team.restart();
  expect(await faultsOf(team.appUrl)).toContain('is for a whole organization');
  team.hosting.seedServers(team.account, 1, 'web');
  await team.slack.as('otto').in('#ops').types('/vps reboot web-1');
  await expect.poll(() => team.slack.as('otto').in('#ops').messages().length).toBeGreaterThan(0);
  expect(changesSeen(team)).toEqual([]);
});

it('a press for which Slack names no workspace is refused with an explanation, and a command is served', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, 1, 'web');
  team.slack.admin.joinGrid({ isOrgInstall: true });
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps show web-1');
  await operator.presses('Reboot');
  await operator.sees('isn’t set up for this workspace');
  expect(changesSeen(team)).toEqual([]);
});
