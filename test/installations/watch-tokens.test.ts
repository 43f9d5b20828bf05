import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { createJobs } from '../../src/db/jobs.ts';
import {
  createInstalledWorkspaces,
  type InstallationPorts,
  noteRevocation,
  type RefreshOutcome,
  type TokenVerdict,
  watchInstallation,
} from '../../src/installations/installations.ts';
import { INSTALLATION } from '../../src/installations/store.ts';
import { silentLog } from '../../src/log.ts';
import { type Place, places } from '../db/places.ts';
import { movableSystem } from '../support/clocks.ts';

/** A Slack that takes each refresh token once, a store that processes share, and one installation with an API key. */
async function setUp(make: () => Promise<Place>, leftMs = 12 * HOUR_MS) {
  const system = movableSystem();
  const store = await (await make()).open({ system, lock: true });
  const { installationStore } = store;
  const tokensOf = (name: string, lifeMs: number) => ({
    bot: new Secret(name),
    rotation: { expiresAt: system.now() + lifeMs, refreshToken: new Secret(`refresh of ${name}`) },
  });
  const slack = { verdict: 'works' as TokenVerdict, tests: 0, sent: [] as string[] };
  const refresh = async (refreshToken: Secret<string>): Promise<RefreshOutcome> => {
    const given = refreshToken.reveal();
    const isUsed = slack.sent.includes(given);
    slack.sent.push(given);
    await system.sleep(5);
    if (isUsed) return { kind: 'refused', error: 'invalid_refresh_token' };
    return { kind: 'renewed', tokens: tokensOf('T1 2', 12 * HOUR_MS) };
  };
  /** A process of the app. */
  const start = () => {
    const ports: InstallationPorts = {
      installationStore,
      tokenService: {
        test: async () => {
          slack.tests++;
          return slack.verdict;
        },
        refresh,
        revoke: async () => undefined,
        listWorkspaces: async () => undefined,
      },
      allowedWorkspaces: [],
      jobs: createJobs(store.jobStore, system, silentLog),
      system,
      log: silentLog,
    };
    ports.jobs.handle({ [INSTALLATION]: ({ key }) => watchInstallation(key, ports) });
    const { find } = createInstalledWorkspaces(ports);
    return {
      /** The token with which it calls Slack. */
      tokenOf: async (id: string) => (await find(id))?.token.reveal(),
      /** An event says that the app was uninstalled. */
      hear: () => noteRevocation(['T1'], system.now(), ports),
      watch: () => ports.jobs.runDue(),
    };
  };
  const installed = { id: 'T1', isOrg: false, name: 'T1', installedBy: 'U1', installedAt: system.now() };
  await installationStore.install({ ...installed, tokens: tokensOf('T1 1', leftMs) });
  await store.apiKeys.put('T1', new Secret('the API key'), 'U1', system.now());
  return {
    ...{ system, slack, start },
    find: () => installationStore.find('T1'),
    botOf: async () => (await installationStore.find('T1'))?.tokens.bot.reveal(),
    keyOf: () => store.apiKeys.find('T1'),
  };
}

describe.each(places)('a token that expires, on $name,', ({ make }) => {
  test('is renewed once by several processes', async () => {
    const { start, slack, botOf } = await setUp(make, HOUR_MS);
    await Promise.all([start(), start(), start()].map((each) => each.watch()));
    expect(slack.sent).toEqual(['refresh of T1 1']);
    expect(await botOf()).toBe('T1 2');
  });

  test('is renewed once by several processes that need it, also by one in which a user waits', async () => {
    const { start, slack } = await setUp(make, -HOUR_MS);
    const [first, second, third] = [start(), start(), start()];
    const needed = Promise.all([first.tokenOf('T1'), second.tokenOf('T1'), first.tokenOf('T1')]);
    await third.watch();
    expect(await needed).toEqual(['T1 2', 'T1 2', 'T1 2']);
    expect(slack.sent).toEqual(['refresh of T1 1']);
  });
});

describe.each(places)('an event about an uninstall, on $name,', ({ make }) => {
  test('erases nothing for any other answer, and Slack is asked again', async () => {
    const { start, slack, system, find, keyOf } = await setUp(make);
    slack.verdict = 'unknown';
    await start().hear();
    system.move(MINUTE_MS);
    await start().watch();
    expect(await keyOf()).toBeDefined();
    expect(slack.tests).toBe(2);
    slack.verdict = 'revoked';
    system.move(MINUTE_MS);
    await start().watch();
    expect(await find()).toBeUndefined();
  });

  test('is checked again soon although the token was renewed just now', async () => {
    const { start, slack, system, find } = await setUp(make, HOUR_MS);
    slack.verdict = 'unknown';
    await start().hear();
    expect(slack.sent).toEqual(['refresh of T1 1']);
    slack.verdict = 'revoked';
    system.move(MINUTE_MS);
    await start().watch();
    expect(await find()).toBeUndefined();
  });

  test('proves nothing where Slack refuses the refresh token', async () => {
    const { start, slack, system, find, keyOf } = await setUp(make, -HOUR_MS);
    slack.verdict = 'unknown';
    slack.sent.push('refresh of T1 1');
    await start().hear();
    for (let hour = 0; hour < 3; hour++) {
      system.move(HOUR_MS);
      await start().watch();
    }
    expect(await find()).toMatchObject({ isRefreshRefused: true });
    expect(await keyOf()).toBeDefined();
  });

  test('erases nothing while the token is being renewed', async () => {
    const { start, slack, keyOf, botOf } = await setUp(make, HOUR_MS);
    await Promise.all([start().watch(), start().hear()]);
    expect(slack.sent).toEqual(['refresh of T1 1']);
    expect([await keyOf(), await botOf()]).toEqual([expect.anything(), 'T1 2']);
  });
});
