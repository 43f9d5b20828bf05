import { expect, test } from 'vitest';
import { type OrderingTeam, startOrdering } from './support/ordering-team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A9');

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
  count();
  await using team = await startOrdering();
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await team.manager.presses('Create and pay');
  await expect.poll(team.creates).toBe(1);
  await buy(team);
  await team.manager.sees('We can’t tell whether');
  await team.manager.sees('Decide…');
  team.manager.doesNotSee(/web-1 (was|is being) created \(ID/);
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: true }]);
});
