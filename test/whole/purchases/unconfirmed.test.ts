import { expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { ORDER, type OrderingTeam, startOrdering } from '../../attacks/support/ordering-team.ts';

const LOSSES: readonly (readonly [string, string, (team: OrderingTeam) => Promise<unknown>])[] = [
  ['is removed', 'no hosting account is connected', (team) => team.app.ports.apiKeys.remove(TEAM.id)],
  ['is revoked', 'key', async (team) => team.hosting.accounts.revokeKey(team.account, team.apiKey)],
];

test.each(
  LOSSES,
)('an unconfirmed order whose API key %s goes to a manager, who resolves it', async (_what, words, lose) => {
  await using team = await startOrdering({
    settings: { HOSTING_ACCOUNT_URL: 'https://hosting.example/account' },
  });
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  await lose(team);
  await team.manager.sees('We can’t tell whether');
  await team.manager.sees(words);
  await team.manager.closes();
  expect(team.manager.links()).toContain('https://hosting.example/account');
  await team.manager.presses('Resolve…');
  await team.manager.fills({ 'Which server was created?': 'None: it wasn’t created' });
  await team.manager.presses('Save');
  await team.manager.sees('We’ve saved your answer');
  expect(await team.listOpen()).toEqual([]);
  // Neither the label nor the budget is held any longer.
  expect((await team.app.ports.ledger.sumSpent(TEAM.id, '', 0)).workspace).toBe(0);
  await team.manager.closes();
  const key = new Secret(team.hosting.createKey(team.account, { beforeTopUp: true }));
  await team.app.ports.apiKeys.put(TEAM.id, key, team.owner.id, Date.now());
  team.manager.overlooksOldMessages();
  await team.manager.types(ORDER);
  await team.manager.presses('Create and pay');
  await team.manager.sees("I've saved it");
  expect(team.charges()).toBe(1);
});

const SERVERS: readonly (readonly [string, (team: OrderingTeam) => Promise<unknown>])[] = [
  ['another writing of its label', (team) => team.buyOutside('WEB-1')],
  [
    'its label and two months',
    async (team) => {
      const id = await team.buyOutside('web-1');
      const headers = { authorization: `Bearer ${team.apiKey}` };
      await fetch(`${team.hosting.baseUrl}/servers/${id}/renew`, { method: 'POST', headers });
    },
  ],
];

test.each(
  SERVERS,
)('somebody else’s server with %s is not taken for the one that was ordered', async (_what, buy) => {
  const notByOrder = 'the server is bought past the app';
  const exempt = { chargedOnce: notByOrder, passwordsWithCreators: notByOrder };
  await using team = await startOrdering({ exempt });
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await team.manager.presses('Create and pay');
  await expect.poll(team.creates).toBe(1);
  await buy(team);
  await team.manager.sees('We can’t tell whether');
  await team.manager.sees('Resolve…');
  team.manager.doesNotSee(/web-1 (was|is being) created \(/);
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: true }]);
});
