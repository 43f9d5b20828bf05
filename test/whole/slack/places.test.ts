import { describe, expect, it, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/time.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { askForRole, createServer, deleteServer } from '../../support/acts.ts';
import { startOrdering } from '../../support/ordering-team.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { grantRole, startTeam, type Team } from '../../support/team.ts';

const faultsOf = async ({ appUrl }: Team) => (await fetch(`${appUrl}/readyz`)).text();

const ask = ({ slack }: Team, wish: string) => askForRole(slack.as('nora'), wish, 'the release');

test.concurrent('a request for access reaches the owners as a direct message, and an app without a Messages tab is a fault in /readyz until that works again', async ({
  expect,
}) => {
  await using team = await startTeam({ exempt: { slackRulesKept: 'the Messages tab goes away' } });
  await ask(team, 'viewer');
  await team.slack.as('olga').in('dm').sees('the release');
  expect(await faultsOf(team)).not.toContain('messages_tab_disabled');
  team.slack.app.hasMessagesTab = false;
  await ask(team, 'operator');
  await expect.poll(() => faultsOf(team)).toContain('messages_tab_disabled');
  await team.owner.types('/vps status');
  await team.owner.sees('Turn on the Messages tab');
  team.slack.app.hasMessagesTab = true;
  await ask(team, 'manager');
  await expect.poll(() => faultsOf(team)).not.toContain('messages_tab_disabled');
});

describe.concurrent('in a channel that is shared with another organization', () => {
  it('the outcome of a reboot or a purchase is shown only to its user, also where the organization was just invited', async () => {
    await using team = await startTeam({ servers: 1 });
    const manager = team.slack.as('mara').in('#acme-shared');
    await manager.types('/vps reboot web-1');
    await manager.sees('web-1 was rebooted');
    await createServer(manager, 'web-9');
    for (const label of ['web-1', 'web-9']) team.slack.as('sam').in('#acme-shared').doesNotSee(label);
    team.slack.admin.inviteOrganization('#ops');
    await team.operator.types('/vps stop web-1');
    await team.operator.sees('web-1 was stopped');
    team.viewer.doesNotSee('web-1');
  });

  it('an announcement from before the organization was invited stays as it was', async ({ expect }) => {
    await using team = await startOrdering();
    team.hosting.faults.add({ on: 'create', kind: 'checking_completes', afterMs: HOUR_MS });
    await team.manager.presses('Create and pay');
    await team.manager.sees('We’re not sure yet');
    team.slack.admin.inviteOrganization('#ops');
    const [order] = await team.listOpen();
    team.hosting.clock.advance(HOUR_MS);
    team.system.move(HOUR_MS);
    await team.manager.sees(/(was|is being) created \(/);
    const readOrder = () => team.app.ports.ledger.find(order?.id ?? '');
    await expect.poll(readOrder).toMatchObject({ state: 'settled', notifiedAt: expect.any(Number) });
    team.slack.as('vera').doesNotSee('created web-1');
  });

  it('no request for approval is posted; users who may approve it get it as a direct message', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: 'C0SHARED01' });
    await team.askCreate('web-9');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-9');
  });
});

it.concurrent('without channels:read nothing is announced, since the channel may be shared', async () => {
  await using team = await startTeam({ servers: 1, scopes: ['commands', 'chat:write', 'users:read'] });
  const operator = team.slack.as('otto').in('#acme-shared');
  await operator.types('/vps reboot web-1');
  await operator.sees('web-1 was rebooted');
  team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
  expect(team.app.ports.setupProblems.read(TEAM.id)).toMatchObject([
    { scopes: ['channels:read', 'groups:read'] },
  ]);
});

it.concurrent('a colleague from another workspace of the same Enterprise Grid orders a server, from the form to the payment, and deletes one', async () => {
  await using team = await startTeam({ servers: 1 });
  team.slack.admin.joinGrid();
  const user = team.slack.admin.addUser({ id: 'W0GRETA001', name: 'greta', teamId: 'T0ACME0001' });
  await grantRole(team, user.id, 'manager');
  const colleague = team.slack.as(user);
  await colleague.types('/vps create');
  await colleague.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'grid-1' });
  await colleague.submits();
  await colleague.presses('Create and pay');
  await colleague.sees('grid-1 is being created');
  await colleague.closes();
  expect(team.hosting.charges(team.account)).toHaveLength(1);
  await deleteServer(colleague);
});

it.concurrent('a token for a whole organization serves no user, and /readyz says what to do', async ({
  expect,
}) => {
  await using team = await startTeam({ servers: 1 });
  team.slack.admin.joinGrid({ isOrgInstall: true });
  await team.restart();
  expect(await faultsOf(team)).toContain('is for a whole organization');
  await team.operator.types('/vps reboot web-1');
  await expect.poll(() => team.operator.messages().length).toBeGreaterThan(0);
  expect(changesSeen(team)).toEqual([]);
});
