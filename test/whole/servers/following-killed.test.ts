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
import { openStore } from '../../support/migrated.ts';
import { lendDatabase, postgresUrl } from '../../support/postgres.ts';
import { type AppProcess, startProcess } from '../../support/process.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp } from '../../support/team.ts';

const LATER = 60_000;

/** A hosting service whose reboots take as long as a process needs to be succeeded, and a Slack. */
async function openWorld(databaseUrl?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0, rebootDelayMs: 5000 });
  const slack = await startSlack({ app: installedApp() });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, 1, 'web');
  const environment = environmentOf(
    slack,
    hosting,
    folder,
    databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, SPILL_DIR: join(folder, 'answers') },
  );
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl: environment.DATABASE_URL ?? '', vault, system: realSystem });
  const key = hosting.createKey(account, { beforeTopUp: true });
  await store.apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, 0);
  await store.close();
  const processes: AppProcess[] = [];
  return {
    slack,
    owner: slack.as('olga').in('#ops'),
    start: async () => {
      const app = await startProcess(environment);
      processes.push(app);
      return app;
    },
    sendCommandsTo: ({ url }: AppProcess) => {
      slack.app.commandsUrl = `${url}/slack/events`;
    },
    posts: () => slack.traffic().filter(({ what }) => what === 'chat.postMessage').length,
    edits: () => slack.traffic().filter(({ what }) => what === 'chat.update').length,
    [Symbol.asyncDispose]: async () => {
      for (const each of processes) await each.kill();
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('a process that is killed while it follows a server', { timeout: 180_000 }, () => {
  test('is succeeded by the next one, which edits the same message and posts nothing', async () => {
    await using world = await openWorld();
    const app = await world.start();
    world.sendCommandsTo(app);
    await world.owner.types('/vps reboot web-1');
    await world.owner.sees('@olga is rebooting web-1…');
    // The act is followed from when the message stands there.
    await realSystem.sleep(1000);
    await app.kill();
    await world.start();
    await world.owner.sees(/@olga rebooted web-1: 🟢 running \(\d+ s\)/, LATER);
    expect(world.owner.messages()).toHaveLength(1);
    expect([world.posts(), world.edits()]).toEqual([1, 1]);
    expect(world.slack.brokenRules()).toEqual([]);
  });

  test.skipIf(!postgresUrl)(
    'is succeeded by another one that runs, and until then only one edits',
    async () => {
      const database = await lendDatabase();
      try {
        await using world = await openWorld(database.url);
        const [first] = await Promise.all([world.start(), world.start()]);
        world.sendCommandsTo(first);
        await world.owner.types('/vps reboot web-1');
        await world.owner.sees(/@olga rebooted web-1: 🟢 running \(\d+ s\)/, LATER);
        expect([world.posts(), world.edits()]).toEqual([1, 1]);
        await world.owner.types('/vps reboot web-1');
        await world.owner.presses('Reboot again');
        await world.owner.sees('@olga is rebooting web-1…');
        await realSystem.sleep(3000);
        await first.kill();
        await expect.poll(() => world.edits(), { timeout: LATER }).toBe(2);
        world.owner.doesNotSee('is rebooting web-1…');
        expect(world.posts()).toBe(2);
        expect(world.slack.brokenRules()).toEqual([]);
      } finally {
        await database.giveBack();
      }
    },
  );
});
