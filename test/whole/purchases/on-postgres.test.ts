import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { findFreePort } from '../../soak/free-port.ts';
import { startProcess } from '../../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../../support/postgres.ts';
import { askDelete, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { startTeam, type Team } from '../../support/team.ts';

const ON_POSTGRES = { engine: 'postgres' } as const;
const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

const countRequests = ({ hosting }: Team, operation: 'create' | 'renew' | 'delete') =>
  hosting.requests({ operation }).length;
const countCharges = ({ hosting, account }: Team) => hosting.charges(account).length;

// One after the other: each team has its own connections, and a server has a hundred.
describe.skipIf(!postgresUrl)('on PostgreSQL', () => {
  test('a create is paid once however often it is confirmed, and its password survives a restart', async ({
    expect,
  }) => {
    await using team = await startTeam(ON_POSTGRES);
    const manager = team.slack.as('mara').in('#ops');
    await manager.types(ORDER);
    await manager.sees('Create and pay');
    const delivery = await manager.presses('Create and pay');
    await manager.sees(/(was|is being) created \(/);
    await team.restart();
    if (!delivery) throw new Error('nothing was delivered');
    expect(JSON.stringify(await team.slack.redeliver(delivery))).toContain('You won’t be charged twice');
    await manager.closes();
    manager.overlooksOldMessages();
    await manager.types('/vps password web-1');
    await manager.sees('Root password of web-1 (only you can see this)');
    expect([countRequests(team, 'create'), countCharges(team)]).toEqual([1, 1]);
  });

  test('a create whose answer is lost is unconfirmed, then found, and paid once', async ({ expect }) => {
    await using team = await startTeam(ON_POSTGRES);
    const manager = team.slack.as('mara').in('#ops');
    await manager.types(ORDER);
    await manager.sees('Create and pay');
    team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
    await manager.presses('Create and pay');
    await manager.sees('We’re not sure yet whether');
    await manager.sees('didn’t reach us');
    expect([countRequests(team, 'create'), countCharges(team)]).toEqual([1, 1]);
  });

  test('a month that two users renew is paid once', async ({ expect }) => {
    await using team = await startTeam(ON_POSTGRES);
    team.hosting.seedServers(team.account, 1, 'web');
    const people = (['mara', 'olga'] as const).map((name) => team.slack.as(name).in('#ops'));
    for (const person of people) {
      await person.types('/vps renew web');
      await person.sees('Renew and pay');
    }
    await Promise.all(people.map((person) => person.presses('Renew and pay')));
    const screens = () => people.map((person) => person.screen()).join('');
    await expect.poll(screens).toContain('Someone else already confirmed this');
    await expect.poll(screens).toContain('was renewed');
    expect(countCharges(team)).toBe(1);
  });

  test('an approved delete is done once, whoever presses how often, and is audited', async ({ expect }) => {
    await using team = await startRuledTeam(TWO_PERSONS, ON_POSTGRES);
    team.hosting.seedServers(team.account, 1, 'web');
    await askDelete(team);
    await Promise.all([1, 2, 3].map(() => team.owner.presses('Approve')));
    await team.manager.sees('@olga approved. web-1 was deleted.');
    expect(countRequests(team, 'delete')).toBe(1);
    expect(await team.app.ports.audit.verify(TEAM.id)).toMatchObject({ ok: true });
  });

  test('a user whose confirmation may not have been saved is told not to order again, and is charged at most once', async ({
    expect,
  }) => {
    await using network = await startNetwork();
    await using team = await startTeam({ settings: network.settings });
    const manager = team.slack.as('mara').in('#ops');
    await manager.types(ORDER);
    await manager.sees('Create and pay');
    network.proxy.loseNextCommit('after');
    await manager.presses('Create and pay');
    await manager.sees('We couldn’t save your order’s status. It may still go through; don’t order again.');
    // It was stored, so the background finds it.
    await expect.poll(() => team.hosting.listServers(team.account)).toHaveLength(1);
    expect([countRequests(team, 'create'), countCharges(team)]).toEqual([1, 1]);
  });

  test('while the database is away, nothing is paid and /readyz reports it; afterwards the app recovers by itself', async ({
    expect,
  }) => {
    await using network = await startNetwork();
    await using team = await startTeam({ settings: network.settings });
    const manager = team.slack.as('mara').in('#ops');
    const readiness = async () => (await fetch(`${team.appUrl}/readyz`)).text();
    await manager.types(ORDER);
    await manager.sees('Create and pay');
    network.proxy.cut();
    await expect.poll(readiness).toContain('the database does not answer');
    await manager.presses('Create and pay');
    await manager.sees('don’t order again. The app can’t reach its database right now');
    network.proxy.mend();
    await expect.poll(readiness).not.toContain('the database does not answer');
    await manager.closes();
    manager.overlooksOldMessages();
    await manager.types(ORDER);
    await manager.presses('Create and pay');
    await manager.sees(/(was|is being) created \(/);
    expect([countRequests(team, 'create'), countCharges(team)]).toEqual([1, 1]);
  });
});

test.skipIf(!postgresUrl)(
  'a process whose database goes away while it starts works when the database is back',
  async ({ expect }) => {
    await using network = await startNetwork();
    await using team = await startTeam({ settings: network.settings });
    const port = await findFreePort();
    const answerOf = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`).then(
        ({ status }) => status,
        () => undefined,
      );
    team.slack.faults.slowDown('auth.test', 1500);
    const starting = startProcess({ ...team.environment, PORT: String(port) });
    // It has opened the database, and waits for Slack to say which workspace this is.
    await expect.poll(() => answerOf('/livez')).toBe(200);
    network.proxy.cut();
    await using app = await starting;
    expect(await answerOf('/readyz')).toBe(503);
    network.proxy.mend();
    await expect.poll(() => answerOf('/readyz'), { timeout: 30_000 }).toBe(200);
    expect(app.hasEnded()).toBe(false);
  },
);

/** A database behind a network that can fail. */
async function startNetwork() {
  const { url, giveBack } = await lendDatabase();
  const proxy = await startTcpProxy(url);
  const settings = { DATABASE_URL: proxy.url, SPILL_DIR: join(tmpdir(), 'vps-slack-tests.spill') };
  return {
    proxy,
    settings,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await giveBack();
    },
  };
}
