import { expect, it } from 'vitest';
import { watchStatements } from '../support/statements.ts';
import { startTeam } from '../support/team.ts';

/** The background may do something meanwhile, so the least of several runs counts. */
const RUNS = 4;
const TRANSACTION = /^(begin|commit|rollback)/i;
/** The look for jobs that are due, once a second. */
const LOOK = 'update "jobs" set "owner"';

it('a reboot takes at most 20 statements in 4 transactions, and a list from a shared answer at most 4', async () => {
  const statements = watchStatements();
  await using team = await startTeam({ hosting: { rebootDelayMs: 60_000 } });
  team.hosting.seedServers(team.account, RUNS, 'web');
  const manager = team.slack.as('mara').in('#ops');
  const count = async (command: string, answer: string) => {
    manager.overlooksOldMessages();
    const before = statements.length;
    const acknowledged = manager.types(command);
    await manager.sees(answer);
    const seen = statements.slice(before).filter((sql) => !sql.startsWith(LOOK));
    await acknowledged;
    return {
      plain: seen.filter((sql) => !TRANSACTION.test(sql)).length,
      transactions: seen.filter((sql) => /^begin/i.test(sql)).length,
    };
  };
  const lists: Awaited<ReturnType<typeof count>>[] = [];
  const reboots: Awaited<ReturnType<typeof count>>[] = [];
  for (let run = 1; run <= RUNS; run++) {
    await count('/vps list', 'web-1');
    lists.push(await count('/vps list', 'web-1'));
    reboots.push(await count(`/vps reboot web-${run}`, `is rebooting web-${run}`));
  }
  const least = (counts: typeof lists, of: keyof (typeof lists)[number]) =>
    Math.min(...counts.map((each) => each[of]));
  expect(least(lists, 'plain')).toBeLessThanOrEqual(4);
  expect(least(lists, 'transactions')).toBe(0);
  expect(least(reboots, 'plain')).toBeLessThanOrEqual(20);
  expect(least(reboots, 'transactions')).toBeLessThanOrEqual(4);
  expect(least(reboots, 'plain')).toBeGreaterThan(10);
});

it('no transaction is open while the app waits for an answer of Slack or of the hosting API', async () => {
  const statements = watchStatements();
  await using team = await startTeam();
  const seen: string[] = [];
  // SQLite answers at once: only a transaction that waits for something else is open when a request arrives.
  const note = (what: string) => {
    const last = statements.findLast((sql) => TRANSACTION.test(sql)) ?? '';
    seen.push(/^begin/i.test(last) ? `${what} within a transaction` : what);
  };
  team.hosting.onEvent((event) => event.kind === 'arrived' && note(`hosting ${event.request.operation}`));
  team.slack.onEvent(
    (event) => event.type === 'traffic' && event.entry.from === 'app' && note(event.entry.what),
  );
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create small ams debian-13 web-1');
  await manager.presses('Create and pay');
  await manager.sees("I've saved it");
  await manager.types('/vps reboot web-1');
  await manager.sees(/@mara (is rebooting|rebooted) web-1/);
  await manager.types('/vps delete web-1');
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
  await manager.presses('Delete');
  await manager.sees('was deleted');
  expect(seen.filter((what) => what.endsWith('within a transaction'))).toEqual([]);
  expect(seen).toEqual(
    expect.arrayContaining(['hosting create', 'hosting delete', 'chat.postMessage', 'users.info']),
  );
});
