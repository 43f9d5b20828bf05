import { expect, test } from 'vitest';
import { realSystem } from '../../src/system.ts';
import { startKillableTeam } from '../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../support/postgres.ts';

const LATER = 90_000;

test.skipIf(!postgresUrl)(
  'a process that is killed while it follows a server is succeeded by another running process, and only one of them edits at a time',
  async () => {
    const database = await lendDatabase();
    try {
      // A reboot takes as long as a process needs to be succeeded.
      await using team = await startKillableTeam({
        servers: 1,
        rebootDelayMs: 5000,
        databaseUrl: database.url,
      });
      const countCalls = (method: string) =>
        team.slack.traffic().filter(({ what }) => what === method).length;
      const [posts, edits] = [() => countCalls('chat.postMessage'), () => countCalls('chat.update')];
      const [first] = await Promise.all([team.start(), team.start()]);
      team.sendCommandsTo(first);
      await team.owner.types('/vps reboot web-1');
      await team.owner.sees(/@olga rebooted web-1: 🟢 running \(\d+ s\)/, LATER);
      expect([posts(), edits()]).toEqual([1, 1]);
      await team.owner.types('/vps reboot web-1');
      await team.owner.presses('Reboot again');
      await team.owner.sees('@olga is rebooting web-1…');
      await realSystem.sleep(3000);
      await first.kill();
      await expect.poll(edits, { timeout: LATER }).toBe(2);
      team.owner.doesNotSee('is rebooting web-1…');
      expect(posts()).toBe(2);
      expect(team.slack.brokenRules()).toEqual([]);
    } finally {
      await database.giveBack();
    }
  },
);

test('a mention whose process is killed is not carried out again when Slack delivers it again', async () => {
  await using team = await startKillableTeam({ servers: 3 });
  const rebooted = () => team.hosting.requests({ operation: 'reboot' }).map(({ serverId }) => serverId);
  const app = await team.start();
  team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 20_000 });
  const delivery = await team.owner.types('@vps reboot web-1');
  await expect.poll(rebooted, { timeout: LATER }).toHaveLength(1);
  await app.kill();
  await team.start();
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
