import { expect, test } from 'vitest';
import { startKillableTeam } from '../../support/killable-team.ts';

const LATER = 90_000;

test('a mention whose process is killed is not carried out again when Slack delivers it again', {
  timeout: 180_000,
}, async () => {
  await using team = await startKillableTeam({ servers: 3 });
  const rebooted = () => team.hosting.requests({ operation: 'reboot' }).map(({ serverId }) => serverId);
  const app = await team.start();
  team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 20_000 });
  const delivery = await team.owner.types('@vps reboot web-1');
  await expect.poll(rebooted, { timeout: LATER }).toHaveLength(1);
  await app.kill();
  await team.start();
  if (!delivery) throw new Error('the mention was not delivered');
  expect(await team.slack.redeliver(delivery)).toMatchObject({ status: 200 });
  // Answered later than what was delivered before.
  for (const name of ['web-2', 'web-3']) {
    const mention = await team.owner.types(`@vps reboot ${name}`);
    expect(mention).toMatchObject({ status: 200 });
    await expect
      .poll(async () => new Set(rebooted()).size, { timeout: LATER })
      .toBe(name === 'web-2' ? 2 : 3);
  }
  expect(rebooted()).toHaveLength(3);
});
