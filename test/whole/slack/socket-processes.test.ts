import { describe, expect, test } from 'vitest';
import { orderOf } from '../../support/acts.ts';
import { startKillableTeam } from '../../support/killable-team.ts';
import { lendDatabase, postgresUrl } from '../../support/postgres.ts';
import { readMetrics } from '../../support/team.ts';

/** Two processes with one app-level token, on one PostgreSQL database. */
async function startTwo() {
  const database = await lendDatabase();
  const team = await startKillableTeam({
    servers: 10,
    databaseUrl: database.url,
    mode: 'socket',
    hasRateLimits: false,
    exempt: {
      passwordsWithCreators: 'a process is killed before an answer',
      slackRulesKept: 'a command comes often',
    },
  });
  const processes = await Promise.all([team.start(), team.start()]);
  await expect.poll(() => team.slack.sockets.count).toBe(2);
  return {
    ...team,
    processes,
    /** A minute passes for what is leased. */
    endLeases: () => database.query('update jobs set lease_until = 0'),
    [Symbol.asyncDispose]: async () => {
      await team[Symbol.asyncDispose]();
      await database.giveBack();
    },
  };
}

/** How many requests of the hosting API this process has sent. */
async function countCalls(url: string): Promise<number> {
  const text = await readMetrics(url);
  const counts = text.matchAll(/^vps_hosting_calls_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.skipIf(!postgresUrl)('two processes on one app-level token', () => {
  test('share the work, and do nothing twice that is delivered over both of their WebSockets', async ({
    expect,
  }) => {
    await using team = await startTwo();
    const { slack, hosting, account, owner, processes } = team;
    for (let at = 1; at <= 10; at++) await owner.types(`/vps reboot web-${at}`);
    const rebooted = () => hosting.requests({ operation: 'reboot' }).length;
    await expect.poll(rebooted).toBe(10);
    for (const { url } of processes) expect(await countCalls(url)).toBeGreaterThan(0);

    const reboot = slack.lastDelivery('command /vps reboot');
    await Promise.all(Array.from({ length: 10 }, () => slack.redeliver(reboot)));
    await owner.types(orderOf('once'));
    await owner.presses('Create and pay');
    const confirmation = slack.lastDelivery('view_submission create_review');
    await Promise.all(Array.from({ length: 20 }, () => slack.redeliver(confirmation)));
    await owner.sees('once is being created');
    expect(hosting.charges(account)).toHaveLength(1);
    expect(rebooted()).toBe(10);
  });

  test.for([
    'first',
    'second',
  ] as const)('keep working when the %s is killed during an order, which is paid once and reported', async (died, {
    expect,
  }) => {
    await using team = await startTwo();
    const { slack, hosting, account, owner, processes } = team;
    await owner.types(orderOf('once'));
    await owner.sees('Create and pay');
    hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 60_000 });
    await owner.presses('Create and pay');
    const confirmation = slack.lastDelivery('view_submission create_review');
    await expect.poll(() => hosting.requests({ operation: 'create' }).length).toBe(1);
    const [killed, other] = died === 'first' ? processes : processes.toReversed();
    await killed?.kill();
    await expect.poll(() => slack.sockets.count).toBe(1);
    await team.endLeases();
    await slack.redeliver(confirmation);
    await owner.sees(/once (?:was|is being) created \(|whether once was created/);
    await owner.types('/vps list');
    await owner.sees('web-10');
    expect(other?.hasEnded()).toBe(false);
    expect(hosting.requests({ operation: 'create' })).toHaveLength(1);
    expect(hosting.charges(account)).toHaveLength(1);
  });
});
