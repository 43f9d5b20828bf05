import { describe, expect, test } from 'vitest';
import { createServer, orderOf } from '../../support/acts.ts';
import { until } from '../../support/eventually.ts';
import { startOrdering } from '../../support/ordering-team.ts';
import { startRuledTeam } from '../../support/ruled-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

describe.concurrent('the form of a create', () => {
  test('takes the name of a plan as the plan and any other word as the label, and says which word was wrong, keeping the rest', async () => {
    await using team = await startTeam();
    const { manager } = team;
    await manager.types('/vps create small');
    await manager.fills({ Location: 'ams', Image: 'debian-13', Label: 'web-1' });
    await manager.presses('Review');
    await manager.sees('5.90 per month');
    await manager.sees(/Label\s+web-1/);
    await manager.closes({ all: true });
    await manager.types('/vps create web-2');
    await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13' });
    await manager.presses('Review');
    await manager.sees(/Label\s+web-2/);
    await manager.closes({ all: true });
    await manager.types('/vps create plan=smal location=fra image=debian-13 label=web-3');
    await manager.sees('There’s no plan called smal. Did you mean small?');
    await manager.fills({ Plan: 'small' });
    await manager.presses('Review');
    await manager.sees(/Label\s+web-3/);
  });

  test('returns from the review with what was entered, and pays once for what is confirmed', async () => {
    await using team = await startTeam();
    const { manager } = team;
    await manager.types('/vps create small fra debian-13 web-1');
    await manager.sees('5.90 per month');
    await manager.presses('Back');
    await manager.sees('The server’s name');
    await manager.fills({ Plan: 'micro' });
    await manager.presses('Review');
    await manager.sees('2.90 per month');
    await manager.sees(/Location\s+fra/);
    await manager.presses('Create and pay');
    await manager.sees("I've saved it");
    expect(team.hosting.charges(team.account)).toMatchObject([{ amountMinor: 290 }]);
    expect(team.hosting.listServers(team.account)).toMatchObject([{ label: 'web-1' }]);
  });
});

test.concurrent('an order that the balance does not cover says how much is needed and where to top up, notifies the owners once, and is never sent again by itself', async () => {
  const settings = { HOSTING_ACCOUNT_URL: 'https://hosting.example/account' };
  await using team = await startTeam({ settings, balanceMinor: 300 });
  const { manager } = team;
  const olga = team.slack.as('olga').in('dm');
  for (const label of ['web-1', 'web-2']) {
    await manager.types(orderOf(label));
    await manager.presses('Create and pay');
    await manager.sees(
      `${label} wasn’t created, and nothing was charged. The hosting account’s balance is too low: you need at least 5.90`,
    );
    await manager.closes();
  }
  expect(manager.links()).toContain('https://hosting.example/account');
  await olga.sees('@mara couldn’t create web-1');
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(2);
  team.hosting.accounts.topUp(team.account, 1000);
  await manager.presses('Try again');
  await manager.presses('Create and pay');
  await manager.sees("I've saved it");
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(3);
  olga.doesNotSee('couldn’t create web-2');
});

/** Made on the hosting account's page. */
const appears = ({ hosting, account }: Team, label = 'web') => hosting.seedServers(account, 1, label);

describe.concurrent('a create', () => {
  test('is not sent when a server with its label has appeared since its review, until its user has seen that server', async () => {
    await using team = await startOrdering();
    appears(team);
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-1 wasn’t created, and nothing was charged.');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.sees('There’s already a server called web-1');
    appears(team);
    team.manager.overlooksOldMessages();
    await team.manager.presses('Create and pay');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    expect(team.creates()).toBe(0);
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.sees('There are already 2 servers called web-1');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect([team.creates(), team.labels()]).toEqual([1, ['web-1', 'web-1', 'web-1']]);
  });

  test('says in its review whose order for that label is under way or waits for approval', async () => {
    await using team = await startTeam({ hosting: { createDelayMs: 60_000 } });
    team.hosting.faults.add({ on: 'create', kind: 'hang' });
    await team.owner.types(orderOf('web-1'));
    await team.owner.presses('Create and pay');
    await until(() => team.hosting.requests({ operation: 'create' }).length === 1);
    await team.manager.types(orderOf('web-1'));
    await team.manager.sees(
      '@olga already ordered web-1 or requested approval for it. This order would create another server.',
    );
  });

  test('is sent when the server with its label came from another order of the workspace', async () => {
    await using team = await startOrdering();
    await createServer(team.owner);
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect([team.creates(), team.labels()]).toEqual([2, ['web-1', 'web-1']]);
  });
});

describe.concurrent('a create that needs approval', () => {
  test('shows both managers the servers that already have its label, and is sent once approved', async () => {
    await using team = await startRuledTeam();
    appears(team);
    await team.askCreate();
    await team.approver.sees('There’s already a server called web-1');
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.labels()).toEqual(['web-1', 'web-1']);
  });

  test('is not sent when a server with its label has appeared since the request', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    appears(team);
    await team.approver.presses('Approve');
    await team.manager.sees('A server called web-1 has appeared since you reviewed the order');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
  });
});
