import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { startHosting } from '../../../src/sandbox/hosting/start.ts';
import { startSlack } from '../../../src/sandbox/slack/slack.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { createVault, parseKeyring } from '../../../src/vault.ts';
import {
  ENCRYPTION_KEY,
  environmentOf,
  installedApp,
  SLACK_MODE,
  type SlackMode,
} from '../../support/environment.ts';
import { openStore } from '../../support/migrated.ts';
import { lendDatabase, postgresUrl } from '../../support/postgres.ts';
import { type AppProcess, startProcess } from '../../support/process.ts';

const LATER = 90_000;
const SLOW_MS = 20_000;

/** A team with two servers, and as many processes of the app as a test starts. */
async function openWorld(databaseUrl?: string, mode: SlackMode = SLACK_MODE) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0, rebootDelayMs: 0 });
  const slack = await startSlack({ app: installedApp(mode) });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, 2, 'web');
  const own =
    databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, SPILL_DIR: join(folder, 'answers') };
  const environment = environmentOf(slack, hosting, folder, own);
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl: environment.DATABASE_URL ?? '', vault, system: realSystem });
  const key = hosting.createKey(account, { beforeTopUp: true });
  await store.apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, 0);
  await store.close();
  const processes: AppProcess[] = [];
  const requests = (operation: 'reboot' | 'servers') => hosting.requests({ operation }).length;
  return {
    slack,
    hosting,
    requests,
    owner: slack.as('olga').in('#ops'),
    /** A killed process can't acknowledge what Slack sends it just then, such as an event about its own message. */
    brokenRules: () => slack.brokenRules().filter(({ words }) => !/ECONNRE(FUSED|SET)/.test(words)),
    start: async () => {
      const app = await startProcess(environment);
      processes.push(app);
      slack.app.commandsUrl = `${app.url}/slack/events`;
      return app;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of processes) await each.kill();
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('a command in a message whose process is killed', { timeout: 180_000 }, () => {
  test('is not carried out again; its user learns in the same thread that it may have been, and checks', async () => {
    await using world = await openWorld();
    const app = await world.start();
    const root = await world.slack.posts('#ops', { text: 'Disk full on web-1' });
    const owner = world.owner.thread(root);
    world.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: SLOW_MS });
    const delivery = await owner.types('@vps reboot web-1');
    await expect.poll(() => world.requests('reboot'), { timeout: LATER }).toBe(1);
    await app.kill();
    await world.start();
    await owner.sees(
      'The app was interrupted while it worked on reboot web-1. We can’t tell whether it was done.',
      LATER,
    );
    expect(owner.messages().at(-1)).toMatchObject({ ephemeral: true, threadTs: root });
    world.slack.as('vera').in('#ops').thread(root).doesNotSee('interrupted');
    await owner.presses('Check state');
    await owner.sees('web-1 is 🟢 running');
    if (delivery) await world.slack.redeliver(delivery);
    await world.owner.types('@vps list');
    await world.owner.sees('web-2');
    expect(world.requests('reboot')).toBe(1);
    expect(world.brokenRules()).toEqual([]);
  });

  test('is reported as not done if nothing was sent, in the direct message that it came in', async () => {
    await using world = await openWorld();
    const app = await world.start();
    const owner = world.owner.in('dm');
    world.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: SLOW_MS });
    await owner.types('reboot web-1');
    await expect.poll(() => world.requests('servers'), { timeout: LATER }).toBe(1);
    await app.kill();
    await world.start();
    await owner.sees('The app was interrupted before it could finish reboot. Nothing was changed.', LATER);
    expect(owner.messages().at(-1)).toMatchObject({ ephemeral: false });
    await owner.types('reboot web-1');
    await owner.sees('web-1 was rebooted');
    expect(world.requests('reboot')).toBe(1);
    expect(world.brokenRules()).toEqual([]);
  });

  test.skipIf(!postgresUrl)('is told once by another process that runs', async () => {
    const database = await lendDatabase();
    try {
      // Over HTTP, it is known which of them gets the message.
      await using world = await openWorld(database.url, 'http');
      await world.start();
      await world.start();
      const receiving = await world.start();
      world.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: SLOW_MS });
      await world.owner.types('@vps reboot web-1,web-2');
      await expect.poll(() => world.requests('reboot'), { timeout: LATER }).toBe(1);
      await receiving.kill();
      await world.owner.sees('interrupted while it worked on reboot web-1', LATER);
      await realSystem.sleep(SLOW_MS);
      const told = world.owner.messages().filter(({ text }) => text.includes('interrupted'));
      expect(told).toHaveLength(1);
      expect(world.requests('reboot')).toBe(1);
      expect(world.brokenRules()).toEqual([]);
    } finally {
      await database.giveBack();
    }
  });
});
