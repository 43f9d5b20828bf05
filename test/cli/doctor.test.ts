import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { checkNode, tryKey } from '../../src/cli/doctor.ts';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { SCOPES } from '../../src/slack/refusals.ts';
import { makeFolder } from '../db/support.ts';
import { startServer } from '../hosting/support.ts';
import { makeKey } from '../support/environment.ts';
import { runProgram } from '../support/programs.ts';
import { queryDatabase } from '../support/query-database.ts';
import { APP_TOKEN, BOT_TOKEN, ENCRYPTION_KEY, startTeam, type Team } from '../support/team.ts';

type Settings = Readonly<Record<string, string | undefined>>;

const shape = z.strictObject({
  version: z.literal(1),
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      check: z.string().min(1),
      status: z.enum(['ok', 'warning', 'failed', 'skipped']),
      text: z.string().min(1),
    }),
  ),
});

/** Runs the built program beside the app. Whatever happens, it prints no secret and no stack trace. */
async function run(team: Team, args: readonly string[] = [], settings: Settings = {}) {
  const port = new URL(team.appUrl).port;
  const env = { ...team.environment, PORT: port, PUBLIC_URL: team.appUrl, ...settings };
  const ended = await runProgram(['doctor', ...args], env);
  const all = ended.output + ended.words;
  for (const secret of [BOT_TOKEN, APP_TOKEN, team.apiKey, ENCRYPTION_KEY.slice(3)])
    expect(all).not.toContain(secret);
  expect(all).not.toMatch(/\n\s+at /);
  return ended;
}

/** Runs it with `--json`, and returns each check as `status: text`, those of one name joined. */
async function findings(team: Team, settings: Settings = {}) {
  const { code, output } = await run(team, ['--json'], settings);
  const { ok, checks } = shape.parse(JSON.parse(output));
  expect(code).toBe(ok ? 0 : 1);
  const found: Record<string, string> = {};
  for (const { check, status, text } of checks)
    found[check] = [...(found[check] ? [found[check]] : []), `${status}: ${text}`].join('\n');
  return found;
}

describe('a good setup', () => {
  test('passes, with a line for each check, and nothing is posted, ordered or changed', async () => {
    await using team = await startTeam();
    const before = team.slack.messages().length;
    const calls = team.hosting.listServers(team.account);
    const { code, output } = await run(team);
    expect(output).not.toMatch(/^✗/m);
    expect(code).toBe(0);
    expect(output).toMatch(
      /^✓ ok {6}database: SQLite can be read and written, and has this version’s schema\.$/m,
    );
    expect(output).toMatch(/^✓ ok {6}encryption keys: all \d+ encrypted values can be decrypted\.$/m);
    expect(output).toMatch(new RegExp(`^✓ ok {6}API key of ${TEAM.id}: works \\(0 servers\\)\\.`, 'm'));
    expect(output).toMatch(/\n\n\d+ ok, 0 warnings, 0 to fix, 0 skipped\.\n$/);
    expect(team.slack.messages()).toHaveLength(before);
    expect(team.hosting.listServers(team.account)).toEqual(calls);
  });

  test('is recognized over Socket Mode, without a WebSocket of its own', async () => {
    await using team = await startTeam({ mode: 'socket' });
    const sockets = team.slack.sockets.count;
    expect((await findings(team))['Socket Mode']).toBe('ok: Slack offers a connection.');
    expect(team.slack.sockets.count).toBe(sockets);
  });
});

describe('vps-slack doctor says how to fix', () => {
  test('every setting that is wrong, a line each', async () => {
    await using team = await startTeam();
    const found = await findings(team, { PORT: 'soon', SLACK_BOT_TOKEN: 'xapp-1', SLACK_SIGNING_SECRET: '' });
    expect(found.settings?.split('\n')).toHaveLength(3);
    expect(found.settings).toContain('failed: PORT must be a number from 0 to 65535, for example 3000.');
    expect(found['everything else']).toMatch(/^skipped/);
  });

  test('a database that can’t be reached, and one that isn’t there yet, which is only a warning', async () => {
    await using team = await startTeam();
    const gone = await findings(team, { DATABASE_URL: 'postgres://vps:hidden@127.0.0.1:1/vps' });
    expect(gone.database).toMatch(
      /^failed: The database postgres:\/\/127\.0\.0\.1:1\/vps can't be used: .*ECONNREFUSED/,
    );
    expect(gone.database).toMatch(/Check DATABASE_URL, .*that the server is up/);
    expect(gone['API keys']).toBe('skipped: needs the database.');
    const path = join(makeFolder(), 'broken.sqlite');
    writeFileSync(path, 'not a database, whatever its name says'.repeat(100));
    const broken = await findings(team, { DATABASE_URL: `sqlite:${path}` });
    expect(broken.database).toMatch(/^failed: .*\. Check DATABASE_URL, the permissions of the file/);
    expect(broken.Slack).toMatch(/^ok/);
    const none = await findings(team, { DATABASE_URL: `sqlite:${join(makeFolder(), 'none.sqlite')}` });
    expect(none.database).toMatch(/^warning: The app has no database at .*start the app once/);
  });

  test('encryption keys of another database, a missing one, and an altered row', async () => {
    await using team = await startTeam();
    const [other, next] = [`k1:${makeKey('other')}`, `k2:${makeKey('next')}`];
    expect((await findings(team, { ENCRYPTION_KEYS: other })).database).toMatch(
      /^failed: ENCRYPTION_KEYS has a different key "k1"/,
    );
    const { DATABASE_URL } = team.environment;
    await queryDatabase(DATABASE_URL, "update api_keys set set_by = 'U0MALLORY1'");
    expect((await findings(team))['encryption keys']).toMatch(
      /^failed: 1 of 1 encrypted values were altered, .*restore them/,
    );
    await queryDatabase(DATABASE_URL, `update api_keys set set_by = '${USERS.olga.id}'`);
    await team.restart(async () => {
      Object.assign(team.environment, { ENCRYPTION_KEYS: `${next},${ENCRYPTION_KEY}` });
    });
    expect((await findings(team, { ENCRYPTION_KEYS: next }))['encryption keys']).toMatch(
      /^failed: ENCRYPTION_KEYS lacks k1, which encrypts data that is still needed\. Put it back/,
    );
  });

  test('a hosting API that can’t be reached, and an API key that it rejects', async () => {
    await using team = await startTeam();
    const gone = await findings(team, { HOSTING_BASE_URL: 'https://hosting.invalid/v1' });
    expect(gone['hosting API']).toMatch(
      /^failed: hosting\.invalid can’t be reached \((ENOTFOUND|EAI_AGAIN)\)/,
    );
    const strict = await startServer((_request, response) =>
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"unauthorized"}'),
    );
    const refused = await findings(team, { HOSTING_BASE_URL: strict.baseUrl });
    expect(refused[`API key of ${TEAM.id}`]).toMatch(/^failed: The hosting API rejected this key/);
  });

  test('a clock that is off', async () => {
    await using team = await startTeam();
    const late = await startServer((_request, response) =>
      response.writeHead(404, { date: new Date(Date.now() - 600_000).toUTCString() }).end(),
    );
    expect((await findings(team, { HOSTING_BASE_URL: late.baseUrl })).clock).toMatch(
      /^failed: This machine is 6\d\d s ahead of .*Turn on NTP/,
    );
  });

  test('a token that Slack refuses, missing scopes, and owners who are gone', async () => {
    await using team = await startTeam({
      scopes: Object.keys(SCOPES).filter((scope) => scope !== 'chat:write' && scope !== 'groups:read'),
    });
    const found = await findings(team, { OWNERS: `U0UNKNOWN1,${USERS.finn.id}` });
    expect(found['Slack scopes']).toContain(
      'failed: chat:write is missing, so nothing can be posted. Add it under',
    );
    expect(found['Slack scopes']).toContain(
      'warning: groups:read is missing, so nothing is announced in private',
    );
    expect(found['Slack owners']).toContain(
      'failed: U0UNKNOWN1: Slack refused users.info (user_not_found, explained at https://docs.slack.dev/reference/methods/users.info). If no user has this ID, correct OWNERS.',
    );
    expect(found['Slack owners']).toContain(`failed: ${USERS.finn.id}: This user’s account is deactivated.`);
    team.slack.faults.failMethod('auth.test', 'token_revoked');
    expect((await findings(team)).Slack).toMatch(
      /^failed: Slack refused auth\.test \(token_revoked, .*install the app again\. Copy the Bot User OAuth Token/,
    );
  });

  test('an app-level token without its scope, and a proxy’s page that isn’t Slack’s', async () => {
    await using team = await startTeam({ mode: 'socket' });
    team.slack.app.appTokenScopes = [];
    expect((await findings(team))['Socket Mode']).toMatch(
      /^failed: Slack refuses SLACK_APP_TOKEN \(missing_scope\)\. Turn on Socket Mode, .*connections:write/,
    );
    const other = await startServer((_request, response) => response.end('<html>Please sign in</html>'));
    expect((await findings(team, { SLACK_API_URL: `${other.baseUrl}/api/` })).Slack).toMatch(
      /^failed: The answer isn’t Slack’s \(HTTP 200\)/,
    );
  });

  test('an app that isn’t running or not ready, and a public address that leads elsewhere', async () => {
    await using team = await startTeam();
    expect((await findings(team, { PORT: '1' })).app).toMatch(
      /^warning: It isn’t running at 127\.0\.0\.1:1 /,
    );
    const other = await startServer(({ url = '' }, response) =>
      response.writeHead(url === '/readyz' ? 503 : 404).end('the database does not answer\n'),
    );
    const { port, origin } = new URL(other.baseUrl);
    const found = await findings(team, { PORT: port, PUBLIC_URL: origin });
    expect(found.app).toBe('failed: Running, but not ready: the database does not answer');
    expect(found['public address']).toMatch(
      /^failed: .*answered by something other than the app \(HTTP 404\)/,
    );
  });
});

describe('the Slack app’s manifest', () => {
  const OWN = parse(readFileSync('manifest.yml', 'utf8'));

  test('names the scopes that are checked', () => {
    const { bot, bot_optional } = OWN.oauth_config.scopes;
    const listed = Object.entries(SCOPES);
    expect(listed.map(([scope]) => scope)).toEqual(bot);
    expect(listed.filter(([, { isRequired }]) => !isRequired).map(([scope]) => scope)).toEqual(bot_optional);
  });
});

test.each([
  ['20.18.3', 'failed'],
  ['20.19.0', 'ok'],
  ['21.7.0', 'failed'],
  ['22.12.0', 'failed'],
  ['22.13.0', 'ok'],
  ['24.0.0', 'ok'],
  ['25.1.0', 'ok'],
])('Node.js %s is %s, as package.json has it', (version, expected) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(engines.node).toBe('^20.19.0 || ^22.13.0 || >=24.0.0');
  const seen: string[] = [];
  checkNode(version, (_check, status) => seen.push(status));
  expect(seen).toEqual([expected]);
});

test.each([
  new Refusal('waited_too_long', {}),
  new HostingError('rate_limited', 'no', {}),
])('a key that can’t be tried because the app uses up the limit is only a warning: %o', async (error) => {
  expect(await tryKey(() => Promise.reject(error))).toEqual([
    'warning',
    'The hosting API’s rate limit is used up. Try again in a minute.',
  ]);
});
