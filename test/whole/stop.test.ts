import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { type AppProcess, startProcess } from '../support/killable-team.ts';
import { startSlack } from '../support/slack/local-slack.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp } from '../support/team.ts';

const MANAGERS = ['mara', 'nina', 'omar', 'rosa'] as const;
/** Managers who have the review of an order before them, in front of an app that `npm start` started. */
async function startByNpm() {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0, rebootDelayMs: 0 });
  const slack = await startSlack({ app: installedApp('http'), hasRateLimits: false });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, 20, 'web');
  const managers = MANAGERS.map((name) =>
    name === 'mara' ? USERS.mara : slack.admin.addUser({ id: `U0${name.toUpperCase()}`, name }),
  );
  const environment = environmentOf(slack, hosting, folder);
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const databaseUrl = environment.DATABASE_URL ?? '';
  const store = await openStore({ databaseUrl, vault, system: realSystem });
  await store.apiKeys.put(TEAM.id, new Secret(hosting.createKey(account)), USERS.olga.id, 0);
  for (const { id } of [...managers, USERS.otto]) {
    const role = id === USERS.otto.id ? 'operator' : 'manager';
    const subject = { workspaceId: TEAM.id, subjectKind: 'user', subjectId: id, role } as const;
    await store.grants.put({ ...subject, pattern: '', grantedBy: USERS.olga.id, grantedAt: 0 });
  }
  await store.close();
  let app: AppProcess | undefined;
  const start = async () => {
    app = await startProcess(environment, ['npm', 'start']);
    slack.app.commandsUrl = `${app.url}/slack/events`;
    return app;
  };
  await start();
  const screens = managers.map((user) => slack.as(user).in('#ops'));
  for (const [at, screen] of screens.entries()) {
    await screen.types(`/vps create plan=small location=ams image=debian-13 label=new-${at}`);
    await screen.sees('Create and pay');
  }
  return {
    ...{ hosting, slack, account, screens, start },
    stop: async () => app?.stop(),
    url: () => app?.url ?? '',
    ended: () => app?.ended,
    output: () => app?.output() ?? '',
    [Symbol.asyncDispose]: async () => {
      await app?.stop();
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test('SIGTERM to npm start under load: everything acknowledged is carried out and reported, once', async () => {
  await using team = await startByNpm();
  const { hosting, slack, account, screens } = team;
  hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 400, times: 'always' });
  hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 200, times: 'always' });
  const operator = slack.as('otto').in('#ops');
  const watcher = slack.as('vera').in('#ops');
  let isLoaded = true;
  const rebooting = (async () => {
    for (let at = 1; isLoaded && at <= 20; at++) {
      await operator.types(`/vps reboot web-${at}`);
      await sleep(30);
    }
  })();
  const pressed = screens.map((screen) => screen.presses('Create and pay'));
  await expect.poll(() => hosting.requests({ operation: 'create' }).length).toBe(1);
  const stopping = team.stop();
  await Promise.all(pressed);
  await stopping;
  isLoaded = false;
  await rebooting;
  // npm may have ended before the app: what counts is that the app does.
  await team.ended();
  expect(team.output()).toContain('"msg":"stopping"');
  await expect(fetch(`${team.url()}/livez`)).rejects.toThrow('fetch failed');
  const rebooted = hosting.requests({ operation: 'reboot', didWork: true });
  for (const { path } of rebooted) {
    const id = Number(path.split('/').at(-2));
    const { label } = hosting.listServers(account).find((server) => server.id === id) ?? { label: '' };
    await watcher.sees(`rebooted ${label}`, 1000);
  }

  hosting.faults.clear();
  await team.start();
  const acknowledged = slack
    .deliveries()
    .filter(({ what, status }) => what.startsWith('view_submission create_review') && status === 200);
  for (const [at, screen] of screens.entries()) {
    if (!acknowledged.some(({ body }) => decodeURIComponent(body).includes(`new-${at}`))) continue;
    const created = () => hosting.listServers(account).find(({ label }) => label === `new-${at}`);
    await expect.poll(created).toBeDefined();
    await screen.sees(hosting.passwordOf(created()?.id ?? 0) ?? 'none');
  }
  expect(acknowledged).toHaveLength(MANAGERS.length);
  expect(hosting.requests({ operation: 'create' })).toHaveLength(MANAGERS.length);
  expect(hosting.charges(account)).toHaveLength(MANAGERS.length);
});
