import { expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { ORDER, type OrderingTeam, startOrdering } from './support/ordering-team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A8');

const LOSSES: readonly (readonly [string, string, (team: OrderingTeam) => Promise<unknown>])[] = [
  ['is removed', 'no hosting account is connected', (team) => team.app.ports.apiKeys.remove(TEAM.id)],
  ['is revoked', 'key', async (team) => team.hosting.accounts.revokeKey(team.account, team.apiKey)],
];

test.each(
  LOSSES,
)('an unconfirmed order whose API key %s comes to a manager, who ends it', async (_what, words, lose) => {
  count();
  await using team = await startOrdering();
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  await lose(team);
  await team.manager.sees('We can’t tell whether');
  await team.manager.sees(words);
  await team.manager.closes();
  await team.manager.presses('Decide…');
  await team.manager.fills({ 'Which server was created?': 'None: it wasn’t created' });
  await team.manager.presses('Save');
  await team.manager.sees('Saved');
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
