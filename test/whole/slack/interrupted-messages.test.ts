import { describe, expect, test } from 'vitest';
import { realSystem } from '../../../src/system.ts';
import type { SlackMode } from '../../support/environment.ts';
import { startKillableTeam } from '../../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../../support/postgres.ts';

const LATER = 90_000;
const SLOW_MS = 20_000;

async function startTwoServers(options: { databaseUrl?: string; mode?: SlackMode } = {}) {
  const team = await startKillableTeam({ servers: 2, ...options });
  return Object.assign(team, {
    requests: (operation: 'reboot' | 'servers') => team.hosting.requests({ operation }).length,
    /** A killed process can't acknowledge what Slack sends it just then, such as an event about its own message. */
    brokenRules: () => team.slack.brokenRules().filter(({ words }) => !/ECONNRE(FUSED|SET)/.test(words)),
  });
}

describe('a command in a message whose process is killed', { timeout: 180_000 }, () => {
  test('is not carried out again; its user learns in the same thread that it may have been, and checks', async () => {
    await using team = await startTwoServers();
    const app = await team.start();
    const root = await team.slack.posts('#ops', { text: 'Disk full on web-1' });
    const owner = team.owner.thread(root);
    team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: SLOW_MS });
    const delivery = await owner.types('@vps reboot web-1');
    await expect.poll(() => team.requests('reboot'), { timeout: LATER }).toBe(1);
    await app.kill();
    await team.start();
    await owner.sees(
      'The app was interrupted while it worked on reboot web-1. We can’t tell whether it was done.',
      LATER,
    );
    expect(owner.messages().at(-1)).toMatchObject({ ephemeral: true, threadTs: root });
    team.slack.as('vera').in('#ops').thread(root).doesNotSee('interrupted');
    await owner.presses('Check state');
    await owner.sees('web-1 is 🟢 running');
    if (delivery) await team.slack.redeliver(delivery);
    await team.owner.types('@vps list');
    await team.owner.sees('web-2');
    expect(team.requests('reboot')).toBe(1);
    expect(team.brokenRules()).toEqual([]);
  });

  test('is reported as not done if nothing was sent, in the direct message that it came in', async () => {
    await using team = await startTwoServers();
    const app = await team.start();
    const owner = team.owner.in('dm');
    team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: SLOW_MS });
    await owner.types('reboot web-1');
    await expect.poll(() => team.requests('servers'), { timeout: LATER }).toBe(1);
    await app.kill();
    await team.start();
    await owner.sees('The app was interrupted before it could finish reboot. Nothing was changed.', LATER);
    expect(owner.messages().at(-1)).toMatchObject({ ephemeral: false });
    await owner.types('reboot web-1');
    await owner.sees('web-1 was rebooted');
    expect(team.requests('reboot')).toBe(1);
    expect(team.brokenRules()).toEqual([]);
  });

  test.skipIf(!postgresUrl)('is told once by another process that runs', async () => {
    const database = await lendDatabase();
    try {
      // Over HTTP, it is known which of them gets the message.
      await using team = await startTwoServers({ databaseUrl: database.url, mode: 'http' });
      await team.start();
      await team.start();
      const receiving = await team.start();
      team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: SLOW_MS });
      await team.owner.types('@vps reboot web-1,web-2');
      await expect.poll(() => team.requests('reboot'), { timeout: LATER }).toBe(1);
      await receiving.kill();
      await team.owner.sees('interrupted while it worked on reboot web-1', LATER);
      await realSystem.sleep(SLOW_MS);
      const told = team.owner.messages().filter(({ text }) => text.includes('interrupted'));
      expect(told).toHaveLength(1);
      expect(team.requests('reboot')).toBe(1);
      expect(team.brokenRules()).toEqual([]);
    } finally {
      await database.giveBack();
    }
  });
});
