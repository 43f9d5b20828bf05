import { expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { INSTALLATION } from '../../../src/installations/store.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer } from '../../support/acts.ts';
import { CLIENT, createBrowser } from '../../support/installs.ts';
import { type AppProcess, startKillableTeam, withStore } from '../../support/killable-team.ts';
import { triesOf } from '../../support/tries.ts';

/** Slack sends an event again that was not acknowledged, here sooner than the real one. */
const RETRIES_MS = [0, 2000, 2000, 2000];
const PATIENCE = { timeout: 3_600_000 };
const TRIES = triesOf({ short: 3, long: Number.POSITIVE_INFINITY });

type Installing = Awaited<ReturnType<typeof startInstalling>>;

/** An app that workspaces install, as a process that ends as by `kill -9` at a point that it counts; 0: it lives. */
async function startInstalling(crashAt: number) {
  const oauth = { ...CLIENT, redirectUrls: ['http://127.0.0.1/slack/oauth_redirect'] };
  const team = await startKillableTeam({
    servers: 0,
    mode: 'http',
    isConnected: false,
    settings: {
      ...{ SLACK_BOT_TOKEN: '', OWNERS: '' },
      ...{ SLACK_CLIENT_ID: CLIENT.clientId, SLACK_CLIENT_SECRET: CLIENT.clientSecret },
    },
    slackApp: { botToken: '', oauth, eventRetryDelaysMs: RETRIES_MS },
  });
  const crashing = await team.startCrashing(crashAt);
  let app: AppProcess = crashing;
  return {
    ...team,
    /** Allows it in Slack; what it returns goes back to the app. */
    install: async () => {
      const browser = createBrowser({ appUrl: app.url });
      const allowed = await browser.allow(await browser.begin(), TEAM.id, USERS.olga.id);
      return () => browser.open(allowed).catch(() => undefined);
    },
    startCounting: crashing.startCounting,
    points: crashing.points,
    isAlive: () => !crashing.hasEnded(),
    /** Ends it if it lives, and starts another one. */
    restart: async () => {
      await app.kill();
      app = await team.start();
    },
    withStore: <Result>(work: (store: Store) => Promise<Result>) => withStore(team.environment, work),
  };
}

/** All that an install has, and an erase must not leave. */
function readInstalled({ withStore }: Installing) {
  return withStore(async ({ installationStore, apiKeys, grants, passwords, audit }) => {
    const installs = await audit.list({ workspaceId: TEAM.id, limit: 50 });
    return {
      token: (await installationStore.find(TEAM.id)) !== undefined,
      owners: (await grants.list(TEAM.id)).length,
      audited: installs.filter(({ action }) => action === 'install').length,
      key: (await apiKeys.find(TEAM.id)) !== undefined,
      passwords: (await passwords.listHeld(TEAM.id)).length,
    };
  });
}

const ABSENT = { token: false, owners: 0, audited: 0, key: false, passwords: 0 };
const COMPLETE = { token: true, owners: 1, audited: 1, key: false, passwords: 0 };

async function install(team: Installing): Promise<void> {
  await (await team.install())();
}

/** Crashes while an install comes back from Slack. Returns the points that were passed. */
async function crashWhileInstalling(crashAt: number): Promise<readonly string[]> {
  await using team = await startInstalling(crashAt);
  const goBack = await team.install();
  await team.startCounting();
  await goBack();
  const points = await team.points();
  await team.restart();
  const left = await readInstalled(team);
  expect([ABSENT, COMPLETE], `crash ${points.at(-1)}`).toContainEqual(left);
  if (!left.token) await install(team);
  await team.owner.types('/vps list');
  await team.owner.sees('No hosting account is connected');
  expect(await readInstalled(team)).toEqual(COMPLETE);
  return points;
}

/** Crashes while an uninstall is carried out. Returns the points that were passed. */
async function crashWhileErasing(crashAt: number): Promise<readonly string[]> {
  await using team = await startInstalling(crashAt);
  await install(team);
  await team.withStore(({ apiKeys }) => apiKeys.put(TEAM.id, new Secret(team.apiKey), USERS.olga.id, 0));
  await createServer(team.owner);
  expect(await readInstalled(team)).toEqual({ ...COMPLETE, key: true, passwords: 1 });
  await team.startCounting();
  await team.slack.uninstallApp();
  // What lives has finished it; what crashed does not go on.
  if (crashAt === 0) await expect.poll(() => readInstalled(team)).toMatchObject({ key: false });
  const points = await team.points();
  await team.restart();
  const isErased = () => readInstalled(team);
  // On PostgreSQL, the dead process holds its job for another 30 s.
  await expect.poll(isErased, { timeout: 90_000 }).toEqual({ ...ABSENT, audited: 1 });
  await install(team);
  expect(await readInstalled(team)).toEqual({ ...COMPLETE, audited: 2 });
  return points;
}

/** Crashes while an event is checked. Returns the points that were passed. */
async function crashWhileChecking(crashAt: number): Promise<readonly string[]> {
  await using team = await startInstalling(crashAt);
  await install(team);
  await team.withStore(({ apiKeys }) => apiKeys.put(TEAM.id, new Secret(team.apiKey), USERS.olga.id, 0));
  const isSettled = () =>
    team.withStore(async ({ jobStore }) => (await jobStore.list(INSTALLATION, TEAM.id)).length === 0);
  await team.startCounting();
  const before = team.slack.traffic().filter(({ what }) => what === 'auth.test').length;
  // Nobody has uninstalled it, but the event may be a late one, or be about another token.
  await team.slack.sendEvent({ type: 'app_uninstalled' });
  const isChecked = () => team.slack.traffic().filter(({ what }) => what === 'auth.test').length > before;
  const isOver = async () => !team.isAlive() || (isChecked() && (await isSettled()));
  await expect.poll(isOver).toBe(true);
  const points = await team.points();
  await team.restart();
  // On PostgreSQL, the dead process holds its job for another 30 s.
  await expect.poll(isSettled, { timeout: 90_000 }).toBe(true);
  const left = await readInstalled(team);
  expect(left, `crash ${points.at(-1)}`).toEqual({ ...COMPLETE, key: true });
  return points;
}

/** All points, or some that are spread over all. */
async function tryPoints(crash: (crashAt: number) => Promise<readonly string[]>) {
  const all = (await crash(0)).length;
  expect(all).toBeGreaterThan(3);
  const step = Math.max(1, all / TRIES);
  for (let at = Math.ceil(step / 2); at <= all; at = Math.ceil(at + step)) await crash(at);
}

test('an install that a crash interrupts is complete or absent, and can be repeated', PATIENCE, async () => {
  await tryPoints(crashWhileInstalling);
});

test('an uninstall that a crash interrupts is finished by the next process', PATIENCE, async () => {
  await tryPoints(crashWhileErasing);
});

test('an event that a crash interrupts erases nothing of what is in use', PATIENCE, async () => {
  await tryPoints(crashWhileChecking);
});
