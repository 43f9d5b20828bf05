import { expect, test } from 'vitest';
import { type OrderingTeam, startOrdering } from '../../attacks/support/ordering-team.ts';

const MINUTE = 60_000;

/** Slack's requests are signed with their time: those from more than five minutes ahead are refused, whatever they ask for. */
test('a clock that is set back by four minutes refuses no purchase', async () => {
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
])('an order that waits to be sent while the clock steps by %i ms is refused, and is paid when it is ordered again', async (stepMs) => {
  await using team = await startOrdering();
  await confirmSlowly(team);
  team.system.stepWall(stepMs);
  await team.manager.sees('wasn’t created, and nothing was charged');
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

test.each([
  31 * MINUTE,
  365 * 24 * 60 * MINUTE,
])('an unconfirmed order stays open when the clock jumps ahead by %i ms, and is found once the server appears', async (jumpMs) => {
  await using team = await startOrdering();
  team.hosting.faults.add({ on: 'create', kind: 'checking_completes', afterMs: 60 * MINUTE });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  team.system.stepWall(jumpMs);
  const before = await team.lookedMs();
  await expect.poll(team.lookedMs, { timeout: 15_000 }).toBeGreaterThan(before);
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: false }]);
  team.manager.doesNotSee(/not created|wasn’t created|order again|money is back|refunded/);
  team.hosting.clock.advance(60 * MINUTE);
  await team.manager.sees(/was created|is being created/);
  expect(team.charges()).toBe(1);
});

test('an unconfirmed order goes to a manager after DOUBT_MINUTES, and its outcome is still reported if it appears later', async () => {
  await using team = await startOrdering();
  team.hosting.faults.add({ on: 'create', kind: 'checking_completes', afterMs: 60 * MINUTE });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  await expect.poll(team.lookedMs, { timeout: 15_000 }).toBeGreaterThan(0);
  team.system.move(31 * MINUTE);
  await team.manager.sees('We can’t rule out a charge');
  team.manager.doesNotSee(/wasn’t created|money is back|refunded/);
  team.hosting.clock.advance(60 * MINUTE);
  team.system.move(31 * MINUTE);
  await team.manager.sees(/was created|is being created/);
  expect(team.charges()).toBe(1);
});
