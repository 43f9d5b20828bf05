import { describe, test } from 'vitest';
import { startRuledTeam } from '../../support/ruled-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

/** The manager is looking at the review of web-1. */
async function reviewing(seeded = 0) {
  const team = await startTeam();
  team.hosting.seedServers(team.account, seeded, 'web');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types(ORDER);
  await manager.sees('Create and pay');
  return Object.assign(team, { manager });
}

/** Made on the hosting account's page. */
const appears = ({ hosting, account }: Team, label = 'web') => hosting.seedServers(account, 1, label);
const creates = ({ hosting }: Team) => hosting.requests({ operation: 'create' }).length;
const labels = ({ hosting, account }: Team) => hosting.listServers(account).map(({ label }) => label);

describe.concurrent('a create', () => {
  test('is not sent when a server with its label has appeared since its review, until its user has seen that server', async ({
    expect,
  }) => {
    await using team = await reviewing();
    appears(team);
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-1 wasn’t created, and nothing was charged.');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    expect([creates(team), team.hosting.charges(team.account)]).toEqual([0, []]);
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.sees('There’s already a server called web-1');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect([creates(team), labels(team)]).toEqual([1, ['web-1', 'web-1']]);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('whose review showed one server with its label is not sent once there are two', async ({ expect }) => {
    await using team = await reviewing(1);
    await team.manager.sees('There’s already a server called web-1');
    appears(team);
    await team.manager.presses('Create and pay');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.sees('There are already 2 servers called web-1');
    expect(creates(team)).toBe(0);
  });

  test('is sent when the server with its label came from another order of the workspace', async ({
    expect,
  }) => {
    await using team = await reviewing();
    const owner = team.slack.as('olga').in('#ops');
    await owner.types(ORDER);
    await owner.presses('Create and pay');
    await owner.sees("I've saved it");
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect([creates(team), labels(team)]).toEqual([2, ['web-1', 'web-1']]);
  });
});

describe.concurrent('a create that needs approval', () => {
  test('shows both managers the servers that already have its label, and is sent once approved', async ({
    expect,
  }) => {
    await using team = await startRuledTeam();
    appears(team);
    await team.askCreate();
    await team.owner.sees('There’s already a server called web-1');
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.labels()).toEqual(['web-1', 'web-1']);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is not sent when a server with its label has appeared since the request', async ({ expect }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    appears(team);
    await team.owner.presses('Approve');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
  });
});
