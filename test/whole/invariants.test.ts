import { writeFile } from 'node:fs/promises';
import { describe, expect, it, test } from 'vitest';
import { createServer, deleteServer } from '../support/acts.ts';
import type { Exemptions } from '../support/invariants.ts';
import { watchStatements } from '../support/statements.ts';
import { BOT_TOKEN, startTeam, type Team } from '../support/team.ts';

const PLANTED = 'this test plants a fault';
const ALL: Exemptions = {
  chargedOnce: PLANTED,
  toldTruly: PLANTED,
  passwordsWithCreators: PLANTED,
  secretsHidden: PLANTED,
  slackRulesKept: PLANTED,
};

/** A team in which the manager has created web-1, with an old-1 beside it. */
async function startCreated(): Promise<Team> {
  const team = await startTeam({ exempt: ALL, hasRateLimits: false });
  team.hosting.seedServers(team.account, 1, 'old');
  await createServer(team.manager);
  return team;
}

/** Sends a request of the app to the hosting API that no user has confirmed. */
async function sends({ hosting, apiKey }: Team, path: string, body?: object): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  await fetch(`${hosting.baseUrl}${path}`, {
    method: 'POST',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Calls a method of Slack as the app. */
async function calls({ slack }: Team, method: string, fields = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${BOT_TOKEN}`, 'content-type': 'application/json' };
  const body = JSON.stringify(fields);
  return (await fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers, body })).json();
}

async function posts(team: Team, channel: string, text: string): Promise<void> {
  expect(await calls(team, 'chat.postMessage', { channel, text })).toMatchObject({ ok: true });
}

async function judge(team: Team): Promise<readonly string[]> {
  await team.app.close();
  return team.watch.judge();
}

const WEB = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };

type Fault = readonly [plant: (team: Team, password: string) => Promise<unknown>, words: string];

const OF_MONEY_AND_PASSWORDS: readonly Fault[] = [
  [(team) => sends(team, '/servers', WEB), '2 charges for web-1, and 1 confirmations'],
  [(team) => posts(team, '#ops', '`web-9` was created (ID 4711)'), '`web-9` was created'],
  [
    (team) => posts(team, '#ops', '`web-1` wasn’t created, and nothing was charged.'),
    '`web-1` wasn’t created, and nothing was charged',
  ],
  [(team) => posts(team, '#ops', '`old-1` was renewed for a month.'), '`old-1` was renewed'],
  [(team) => posts(team, '#ops', '`old-1` was deleted.'), '`old-1` was deleted'],
  [(team) => posts(team, '#ops', '<@U1> rebooted `old-1`'), 'rebooted `old-1`'],
  [(team, password) => posts(team, '#ops', password), 'server 1002 was shown to others'],
  [
    (team, password) => writeFile(`${folderOf(team)}/left.txt`, password),
    'the root password of server 1002 is in the files',
  ],
];

/** Beside each of these, one of the others would not show. */
const OF_OTHER_THINGS: readonly Fault[] = [
  [(team) => sends(team, '/servers/1001/renew'), '1 renewals of server 1001, 0 months'],
  [(team) => sends(team, '/servers', { ...WEB, label: 'web-2' }), 'was never shown, and isn’t held'],
  [(team, password) => posts(team, 'U0OPERATOR', password), 'server 1002 was shown to others'],
  [(team) => writeFile(`${folderOf(team)}/left.txt`, team.apiKey), 'the API key is in the files'],
  [(team) => posts(team, '#ops', team.apiKey), 'the API key is in what was shown'],
  [async (team) => team.app.ports.log.info(`using ${team.apiKey}`), 'the API key is in the log'],
  [(team) => calls(team, 'made.up'), 'slackRulesKept: unknown_method: the local Slack has no method made.up'],
];

function folderOf({ environment }: Team): string {
  return (environment.DATABASE_URL ?? '').replace('sqlite:', '').replace(/\/[^/]*$/, '');
}

describe.concurrent('the invariants after every test of the whole app', () => {
  test('hold for a team that has done nothing wrong', async () => {
    await using team = await startCreated();
    expect(await judge(team)).toEqual([]);
  });

  test.each([
    ['money, words and passwords', OF_MONEY_AND_PASSWORDS],
    ['an unconfirmed renewal, lost passwords, API keys and rules of Slack', OF_OTHER_THINGS],
  ])('find every fault of %s', async (_name, faults) => {
    await using team = await startCreated();
    const password = team.hosting.passwordOf(1002) ?? '';
    for (const [plant] of faults) await plant(team, password);
    const found = (await judge(team)).join('\n');
    for (const [, words] of faults) expect(found).toContain(words);
  });
});

const TRANSACTION = /^(begin|commit|rollback)/i;

it('no transaction is open while the app waits for an answer of Slack or of the hosting API', async () => {
  using watched = watchStatements();
  const statements = watched.seen;
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
  const { manager } = team;
  await createServer(manager);
  await manager.types('/vps reboot web-1');
  await manager.sees(/@mara (is rebooting|rebooted) web-1/);
  await deleteServer(manager);
  expect(seen.filter((what) => what.endsWith('within a transaction'))).toEqual([]);
  expect(seen).toEqual(
    expect.arrayContaining(['hosting create', 'hosting delete', 'chat.postMessage', 'users.info']),
  );
});
