import { expect, test } from 'vitest';
import { type OrderingTeam, startOrdering } from './support/ordering-team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A20');
const MINUTE = 60_000;

/** Slack's requests are signed with their time: those from more than five minutes ahead are refused, whatever they ask for. */
test('a clock that is set back by four minutes refuses no purchase', async () => {
  count();
  await using team = await startOrdering();
  team.system.stepWall(-4 * MINUTE);
  await team.manager.presses('Create and pay');
  await team.manager.sees("I've saved it");
  await team.manager.closes();
  team.manager.overlooksOldMessages();
  await team.manager.types('/vps renew web-1');
  await team.manager.presses('Renew and pay');
  await team.manager.sees('was renewed');
  expect(team.charges()).toBe(2);
});

test.each([
  -60 * MINUTE,
  -30 * 24 * 60 * MINUTE,
])('an order that waits to be sent while the clock is set back by %i ms is refused, and paid when it is ordered again', async (stepMs) => {
  count();
  await using team = await startOrdering();
  await confirmSlowly(team);
  team.system.stepWall(stepMs);
  await team.manager.sees('was not created, and nothing was charged');
  expect(team.creates()).toBe(0);
  // Slack's requests are signed with its own time, which the app's clock has to agree with again.
  team.system.stepWall(-stepMs - 4 * MINUTE);
  await team.manager.closes();
  await team.manager.presses('Try again');
  await team.manager.presses('Create and pay');
  await team.manager.sees("I've saved it");
  expect(team.charges()).toBe(1);
  expect(await team.listOpen()).toEqual([]);
});

async function confirmSlowly(team: OrderingTeam): Promise<void> {
  const lists = () => team.hosting.requests({ operation: 'servers' }).length;
  const before = lists();
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 500 });
  await team.manager.presses('Create and pay');
  await expect.poll(lists).toBeGreaterThan(before);
}
