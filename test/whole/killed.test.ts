import { expect, test } from 'vitest';
import { realSystem } from '../../src/system.ts';
import { startKillableTeam } from '../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../support/postgres.ts';

const LATER = 90_000;

/** A reboot takes as long as a process needs to be succeeded. */
async function startSlowToReboot(databaseUrl?: string) {
  const team = await startKillableTeam({ servers: 1, rebootDelayMs: 5000, databaseUrl });
  const countCalls = (method: string) => team.slack.traffic().filter(({ what }) => what === method).length;
  return Object.assign(team, {
    posts: () => countCalls('chat.postMessage'),
    edits: () => countCalls('chat.update'),
  });
}

test.skipIf(!postgresUrl)(
  'a process that is killed while it follows a server is succeeded by another running process, and only one of them edits at a time',
  async () => {
    const database = await lendDatabase();
    try {
      await using team = await startSlowToReboot(database.url);
      const [first] = await Promise.all([team.start(), team.start()]);
      team.sendCommandsTo(first);
      await team.owner.types('/vps reboot web-1');
      await team.owner.sees(/@olga rebooted web-1: 🟢 running \(\d+ s\)/, LATER);
      expect([team.posts(), team.edits()]).toEqual([1, 1]);
      await team.owner.types('/vps reboot web-1');
      await team.owner.presses('Reboot again');
      await team.owner.sees('@olga is rebooting web-1…');
      await realSystem.sleep(3000);
      await first.kill();
      await expect.poll(() => team.edits(), { timeout: LATER }).toBe(2);
      team.owner.doesNotSee('is rebooting web-1…');
      expect(team.posts()).toBe(2);
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
