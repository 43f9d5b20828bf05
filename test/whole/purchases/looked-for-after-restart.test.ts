import { expect, test } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { startTeam } from '../../support/team.ts';

/** Long before the next look that the app had planned. */
const SOON = 15_000;

test('after a restart, the app looks for an old unconfirmed order within seconds', async () => {
  const system = movableSystem();
  await using team = await startTeam({ system });
  const manager = team.slack.as('mara').in('#ops');
  team.hosting.faults.add({ on: 'create', kind: 'checking_completes', afterMs: 3_600_000 });
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.presses('Create and pay');
  const looked = async () => (await team.app.ports.ledger.listOpen(TEAM.id))[0]?.lookedMs ?? 0;
  await expect.poll(looked).toBeGreaterThan(0);
  // After an hour the app looks every five minutes.
  system.move(3_600_000);
  await expect.poll(looked).toBeGreaterThan(3_000_000);
  team.hosting.clock.advance(2 * 3_600_000);
  await team.restart();
  const charged = async () => (await team.app.ports.ledger.sumSpent(TEAM.id, '', 0)).workspace;
  await expect.poll(charged, { timeout: SOON }).toBe(590);
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
});
