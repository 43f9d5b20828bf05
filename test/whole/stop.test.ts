import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { newGrant } from '../db/fixtures.ts';
import { orderOf, passwordOf } from '../support/acts.ts';
import { type AppProcess, startKillableTeam } from '../support/killable-team.ts';

const MANAGERS = ['mara', 'nora', 'gus', 'olga'] as const;

/** Managers who have the review of an order before them, in front of an app that `npm start` started. */
async function startByNpm() {
  const team = await startKillableTeam({
    servers: 20,
    mode: 'http',
    hasRateLimits: false,
    prepare: async ({ grants }) => {
      const workspaceId = TEAM.id;
      await grants.put(newGrant({ workspaceId, subjectId: USERS.otto.id, role: 'operator' }));
      for (const name of MANAGERS)
        await grants.put(newGrant({ workspaceId, subjectId: USERS[name].id, role: 'manager' }));
    },
  });
  const apps: AppProcess[] = [];
  const start = async () => {
    const app = await team.start({}, ['npm', 'start']);
    apps.push(app);
    return app;
  };
  const app = await start();
  const screens = MANAGERS.map((name) => team.slack.as(name).in('#ops'));
  for (const [at, screen] of screens.entries()) {
    await screen.types(orderOf(`new-${at}`));
    await screen.sees('Create and pay');
  }
  return {
    ...team,
    ...{ app, screens, start },
    [Symbol.asyncDispose]: async () => {
      // npm passes this signal on, unlike that of `kill`.
      for (const each of apps) {
        await each.stop();
        await each.ended;
      }
      await team[Symbol.asyncDispose]();
    },
  };
}

test('SIGTERM to npm start under load: everything acknowledged is carried out and reported, once', async () => {
  await using team = await startByNpm();
  const { hosting, slack, account, screens, app } = team;
  hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 400, times: 'always' });
  hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 200, times: 'always' });
  const operator = slack.as('otto');
  const watcher = slack.as('vera');
  let isLoaded = true;
  const rebooting = (async () => {
    for (let at = 1; isLoaded && at <= 20; at++) {
      await operator.types(`/vps reboot web-${at}`);
      await sleep(30);
    }
  })();
  const pressed = screens.map((screen) => screen.presses('Create and pay'));
  await expect.poll(() => hosting.requests({ operation: 'create' }).length).toBe(1);
  const stopping = app.stop();
  await Promise.all(pressed);
  await stopping;
  isLoaded = false;
  await rebooting;
  // npm may have ended before the app: what counts is that the app does.
  await app.ended;
  expect(app.output()).toContain('"msg":"stopping"');
  await expect(fetch(`${app.url}/livez`)).rejects.toThrow('fetch failed');
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
    await screen.sees(passwordOf(team, `new-${at}`));
  }
  expect(acknowledged).toHaveLength(MANAGERS.length);
  expect(hosting.requests({ operation: 'create' })).toHaveLength(MANAGERS.length);
  expect(hosting.charges(account)).toHaveLength(MANAGERS.length);
});
