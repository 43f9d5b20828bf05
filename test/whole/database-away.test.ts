import { describe, expect, onTestFinished, test } from 'vitest';
import { createServer, orderOf } from '../support/acts.ts';
import { startInstalls } from '../support/installs.ts';
import { lendDatabase, postgresUrl } from '../support/postgres.ts';
import { changesSeen } from '../support/raw-user.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startTeam, type TeamOptions } from '../support/team.ts';

// Each has a database and an app of its own.

const AWAY = 'The app can’t reach its database right now';
const NOTHING_DONE = `${AWAY}, so nothing was done. Try again in a minute.`;
const UNKNOWN = `${AWAY}, so it can’t tell whether this was done. It may still go through`;
const MAY_GO_THROUGH = 'We couldn’t save this. It may still go through, so don’t repeat it';
const INCIDENT = 'Something went wrong';

/** PostgreSQL behind a network that the test can cut. */
async function borrow() {
  const database = await lendDatabase();
  onTestFinished(database.giveBack);
  const network = await startTcpProxy(database.url);
  onTestFinished(() => network[Symbol.asyncDispose]());
  return network;
}

const startBehind = (network: { readonly url: string }, options: TeamOptions = {}) =>
  startTeam({ servers: 3, settings: { DATABASE_URL: network.url }, hasRateLimits: false, ...options });

describe.skipIf(!postgresUrl)('while PostgreSQL is away', () => {
  test('every command, button and form says that nothing was done, and works again once the database is back', async () => {
    const network = await borrow();
    await using team = await startBehind(network);
    const { operator, owner } = team;
    await operator.types('/vps show web-1');
    await operator.sees('Refresh');
    await owner.types('/vps settings notifications');
    await owner.sees('Announce changes');
    network.cut();
    await operator.presses('Refresh');
    await operator.sees(NOTHING_DONE);
    await owner.presses('Save');
    await owner.sees(NOTHING_DONE);
    for (const user of [operator, owner]) user.doesNotSee(INCIDENT);
    for (const typed of ['list', 'reboot web-1', 'status', 'help', '']) {
      operator.overlooksOldMessages();
      await operator.types(`/vps ${typed}`.trim());
      await operator.sees(NOTHING_DONE);
    }
    operator.overlooksOldMessages();
    await operator.types('@vps reboot web-1');
    await operator.sees(NOTHING_DONE);
    operator.doesNotSee(INCIDENT);
    expect(changesSeen(team)).toEqual([]);
    network.mend();
    operator.overlooksOldMessages();
    await operator.types('/vps list');
    await operator.sees('web-3');
  });

  test('an order’s user is never told that nothing was done, since an earlier press may go through; afterwards the app recovers by itself', async () => {
    const network = await borrow();
    await using team = await startBehind(network);
    const { manager } = team;
    const readiness = async () => (await fetch(`${team.appUrl}/readyz`)).text();
    await manager.types(orderOf('new-1'));
    await manager.sees('Create and pay');
    network.cut();
    await expect.poll(readiness).toContain('the database does not answer');
    await manager.presses('Create and pay');
    await manager.sees(MAY_GO_THROUGH);
    manager.doesNotSee('nothing was done');
    expect(changesSeen(team)).toEqual([]);
    network.mend();
    await expect.poll(readiness).not.toContain('the database does not answer');
    await manager.closes();
    manager.overlooksOldMessages();
    await createServer(manager, 'new-1');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });

  test('a user whose confirmation may not have been saved is told not to order again, and is charged at most once', async () => {
    const network = await borrow();
    await using team = await startBehind(network);
    await team.manager.types(orderOf('new-1'));
    await team.manager.sees('Create and pay');
    network.loseNextCommit('after', 'insert into "operations"');
    await team.manager.presses('Create and pay');
    await team.manager.sees(MAY_GO_THROUGH);
    // It was stored, so the background finds it.
    const created = () => team.hosting.listServers(team.account).filter(({ label }) => label === 'new-1');
    await expect.poll(created).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });

  test('an order is not sent if the database may not have stored that, and its user reads that nothing was charged', async () => {
    const network = await borrow();
    await using team = await startBehind(network);
    await team.manager.types(orderOf('new-1'));
    await team.manager.sees('Create and pay');
    network.loseNextCommit('after', 'set "state" = $1, "sent_at"');
    await team.manager.presses('Create and pay');
    await team.manager.sees('new-1 wasn’t created, and nothing was charged');
    expect(changesSeen(team)).toEqual([]);
    await createServer(team.manager, 'new-1');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });

  test('the user of an action whose request had been sent is never told that nothing was done', async () => {
    const network = await borrow();
    await using team = await startBehind(network);
    team.hosting.faults.add({ on: 'stop', kind: 'slow', delayMs: 1000 });
    // The ack waits for the outcome.
    const typing = team.operator.types('/vps stop web-1');
    // The request is with the hosting API for a second.
    await expect.poll(() => changesSeen(team)).toHaveLength(1);
    network.cut();
    await typing;
    await team.operator.sees(UNKNOWN);
    expect(changesSeen(team)).toHaveLength(1);
    team.operator.doesNotSee('nothing was done');
  });

  test('a message that Slack delivers again is not answered with “nothing was done”, since its first delivery may have been carried out', async () => {
    const network = await borrow();
    await using team = await startBehind(network, { slackApp: { eventRetryDelaysMs: [2000] } });
    team.slack.faults.repeatEvents();
    await team.operator.types('@vps stop web-1');
    await expect.poll(() => changesSeen(team)).toHaveLength(1);
    await team.operator.sees('web-1');
    team.operator.overlooksOldMessages();
    network.cut();
    await team.operator.sees(UNKNOWN);
    team.operator.doesNotSee('nothing was done');
  });

  test('a workspace that installed the app is not told that the app isn’t installed, since only the database knows', async () => {
    const network = await borrow();
    await using team = await startInstalls({ settings: { DATABASE_URL: network.url } });
    await team.install(team.first);
    const owner = team.first.as('olga');
    await owner.types('/vps settings notifications');
    await owner.sees('Announce changes');
    network.cut();
    await owner.presses('Save');
    await owner.sees(UNKNOWN);
    await owner.presses('Close');
    await owner.types('/vps list');
    await owner.sees(NOTHING_DONE);
  });
});
