import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { type AppProcess, startKillableTeam, startProcess } from '../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../support/postgres.ts';
import { startSlack } from '../support/slack/local-slack.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp } from '../support/team.ts';

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

describe('a process that is killed while it follows a server', { timeout: 180_000 }, () => {
  test('is succeeded by the next one, which edits the same message and posts nothing', async () => {
    await using team = await startSlowToReboot();
    const app = await team.start();
    await team.owner.types('/vps reboot web-1');
    await team.owner.sees('@olga is rebooting web-1…');
    // The act is followed from when the message stands there.
    await realSystem.sleep(1000);
    await app.kill();
    await team.start();
    await team.owner.sees(/@olga rebooted web-1: 🟢 running \(\d+ s\)/, LATER);
    expect(team.owner.messages()).toHaveLength(1);
    expect([team.posts(), team.edits()]).toEqual([1, 1]);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test.skipIf(!postgresUrl)(
    'is succeeded by another running process, and only one of them edits at a time',
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
});

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

/** The owner has the review of web-1 before them, in front of an app that is a process of its own. */
async function reviewing(program?: Parameters<typeof startProcess>[1]) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0 });
  const slack = await startSlack({
    app: installedApp(),
  });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  const environment = environmentOf(slack, hosting, folder);
  await keepKey(environment.DATABASE_URL ?? '', hosting.createKey(account));
  let app: AppProcess | undefined;
  const start = async () => {
    app = await startProcess(environment, program);
    slack.app.commandsUrl = `${app.url}/slack/events`;
    return app;
  };
  await start();
  const owner = slack.as('olga').in('#ops');
  await owner.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await owner.sees('Create and pay');
  return {
    hosting,
    slack,
    owner,
    start,
    kill: async () => app?.kill(),
    stop: async () => app?.stop(),
    output: () => app?.output() ?? '',
    /** The user presses; the answer is not waited for, since a killed process never gives one. */
    press: () => void owner.presses('Create and pay').catch(() => undefined),
    creates: () => hosting.requests({ operation: 'create' }),
    charges: () => hosting.charges(account),
    servers: () => hosting.listServers(account),
    [Symbol.asyncDispose]: async () => {
      await app?.kill();
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Leaves an order that was not found to a manager after seconds. */
const IMPATIENT = [process.execPath, 'dist/bundled/impatient-app.js'] as const;

async function keepKey(databaseUrl: string, key: string): Promise<void> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem });
  await store.apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, realSystem.now());
  await store.close();
}

/** Slack takes so long for an answer that the process is killed first. */
const SLOW_MS = 25_000;

describe.concurrent('a process that is killed', () => {
  test('before it sent the order: the next process pays it once and shows the password', async ({
    expect,
  }) => {
    await using scene = await reviewing();
    scene.hosting.faults.add({ on: 'servers', kind: 'hang_before' });
    const before = scene.hosting.requests({ operation: 'servers' }).length;
    scene.press();
    await expect.poll(() => scene.hosting.requests({ operation: 'servers' }).length).toBe(before + 1);
    await scene.kill();
    expect(scene.creates()).toHaveLength(0);
    await scene.start();
    await scene.owner.sees("I've saved it");
    expect(scene.charges()).toHaveLength(1);
    await scene.owner.sees(scene.hosting.passwordOf(scene.servers()[0]?.id ?? 0) ?? 'none');
  });

  test('while a paid order is under way: the order is found, not sent again, and the user is told that its password is lost', async ({
    expect,
  }) => {
    await using scene = await reviewing();
    scene.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 10_000 });
    scene.press();
    await expect.poll(() => scene.creates().length).toBe(1);
    await scene.kill();
    await scene.start();
    await scene.owner.sees(/(was|is being) created \(/);
    await scene.owner.sees('didn’t reach us');
    expect(scene.creates()).toHaveLength(1);
    expect(scene.charges()).toHaveLength(1);
  });

  test('while an order that is never carried out is under way: it goes to a manager, and is not sent again', async ({
    expect,
  }) => {
    await using scene = await reviewing(IMPATIENT);
    scene.hosting.faults.add({ on: 'create', kind: 'hang_before' });
    scene.press();
    await expect.poll(() => scene.creates().length).toBe(1);
    await scene.kill();
    await scene.start();
    await scene.owner.sees('We’re not sure yet');
    await scene.owner.sees('hasn’t appeared in the hosting account');
    expect(scene.creates()).toHaveLength(1);
    expect(scene.charges()).toHaveLength(0);
  });

  test('after the answer arrived and before Slack got it: the next process delivers the password', async ({
    expect,
  }) => {
    await using scene = await reviewing();
    scene.slack.faults.breakReplyUrls();
    scene.slack.faults.slowDown('chat.postEphemeral', SLOW_MS);
    scene.press();
    await expect.poll(() => scene.creates()[0]?.ending).toBe('answered');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await scene.kill();
    scene.slack.faults.clear();
    await scene.start();
    await scene.owner.sees("I've saved it");
    await scene.owner.sees(scene.hosting.passwordOf(scene.servers()[0]?.id ?? 0) ?? 'none');
    expect(scene.charges()).toHaveLength(1);
  });

  test.each([
    0, 10, 20, 30, 45, 60, 90,
  ])('at any moment (%i ms after the press), and pressed again by a user who saw no answer, charges once', async (afterMs) => {
    await using scene = await reviewing(IMPATIENT);
    scene.press();
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await scene.kill();
    await scene.start();
    if (scene.owner.screen().includes('[Create and pay]')) await scene.owner.presses('Create and pay');
    await scene.owner.sees(/I've saved it|being created|was created|wasn’t created|hasn’t appeared/);
    expect(scene.creates().length).toBeLessThanOrEqual(1);
    expect(scene.charges()).toHaveLength(scene.servers().length);
  });
});

test('a regular stop waits for an order that is under way, and reports its outcome', async () => {
  await using scene = await reviewing();
  scene.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 500 });
  scene.press();
  await expect.poll(() => scene.creates().length).toBe(1);
  expect(await scene.stop()).toBe(0);
  await scene.owner.sees("I've saved it", 1000);
});
