import { expect, test } from 'vitest';
import { startTeam } from '../../support/team.ts';

/** Longer than a user waits before they order again. */
const SOON = 12_000;

test('a create behind one that hangs is reported as queued within seconds, and paid once', async () => {
  await using team = await startTeam({ settings: { HOSTING_TIMEOUT_MS: '20000' } });
  const [first, second] = (['olga', 'mara'] as const).map((name) => team.slack.as(name).in('#ops'));
  if (!first || !second) throw new Error('a user is missing');
  for (const [user, label] of [
    [first, 'one'],
    [second, 'two'],
  ] as const) {
    await user.types(`/vps create plan=small location=ams image=debian-13 label=${label}`);
    await user.sees('Create and pay');
  }
  const creates = () => team.hosting.requests({ operation: 'create' });
  team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 10_000 });
  await first.presses('Create and pay');
  await expect.poll(() => creates().length).toBe(1);
  await second.presses('Create and pay');
  await second.sees(/two is queued/, SOON);
  expect(creates()).toHaveLength(1);
  first.doesNotSee('queued');
  await expect.poll(() => team.hosting.charges(team.account).length, { timeout: 30_000 }).toBe(2);
  await second.sees('Root password', SOON);
  expect(creates()).toHaveLength(2);
});
