import { expect, test } from 'vitest';
import { startOrdering } from './support/ordering-team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A4');
const MINUTE = 60_000;

test.each([
  31 * MINUTE,
  365 * 24 * 60 * MINUTE,
])('an unconfirmed order stays open when the clock jumps ahead by %i ms, and is found in the end', async (jumpMs) => {
  count();
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

test('an unconfirmed order that was looked for long enough comes to a manager, and its outcome is still reported later', async () => {
  count();
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
