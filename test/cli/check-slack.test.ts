import { readFileSync } from 'node:fs';
import { describe, expect, it, test, vi } from 'vitest';
import { parse } from 'yaml';
import { SCOPES } from '../../src/cli/slack-checks.ts';
import { listPieces } from '../../src/sandbox/gallery/fixtures/surfaces.ts';
import { APP, USERS } from '../../src/sandbox/slack/workspace.ts';
import {
  countCalls,
  listLeftBehind,
  run,
  runJson,
  runProcess,
  SOME_PIECES,
  startOther,
  startWorkspace,
} from './support/check-slack.ts';

// Processes, and a thousand calls for the gallery: enough time on a busy machine, too.
vi.setConfig({ testTimeout: 240_000 });

const QUICK = ['--no-gallery', '--channel', 'ops'];

/** In a process of its own, as `npm run check:slack` starts it. */
describe('npm run check:slack', () => {
  test('passes a good workspace with every message and form of the gallery, and keeps nothing', async () => {
    await using slack = await startWorkspace();
    const args = ['--channel', 'C0OPS00001'];
    const { code, findings, words } = await runJson(slack.apiUrl, args, {}, runProcess);
    const unfit = Object.entries(findings).filter(([, found]) => !found.startsWith('ok'));
    expect(unfit).toEqual([['public address', 'skipped: PUBLIC_URL isn’t set.']]);
    expect(code).toBe(0);
    expect(findings.gallery).toBe(`ok: Slack accepts all ${listPieces().length} messages and forms.`);
    expect(words).toMatch(/100 of \d+ messages and forms checked/);
    expect(countCalls(slack, 'blocks.validate')).toBeGreaterThan(500);
    expect(listLeftBehind(slack)).toEqual([]);
    expect(slack.brokenRules()).toEqual([]);
  });

  test('prints a line for each check with its remedy, and the number of each result', async () => {
    await using slack = await startWorkspace();
    slack.app.scopes = ['commands', 'chat:write', 'app_mentions:read', 'im:history', 'channels:read'];
    slack.app.hasMessagesTab = false;
    const { code, output } = await runProcess(slack.apiUrl, QUICK);
    expect(code).toBe(1);
    expect(output).toMatch(/^✓ ok {6}scope chat:write: granted\.$/m);
    expect(output).toMatch(/^! warning scope users:read: missing, so .* OAuth & Permissions .*$/m);
    expect(output).toMatch(/^✗ FIX {5}direct message: .*Turn on the Messages tab.*$/m);
    expect(output).toMatch(/^– skipped gallery: left out by --no-gallery\.$/m);
    expect(output).toMatch(/\n\n\d+ ok, 3 warnings, 1 to fix, \d skipped\.\n$/);
  });

  test('exits with 1 for a revoked token, and with 2 for wrong arguments', async () => {
    await using slack = await startWorkspace();
    slack.faults.failMethod('auth.test', 'token_revoked');
    const revoked = await runProcess(slack.apiUrl, QUICK);
    expect(revoked.code).toBe(1);
    expect(revoked.output).toContain('✗ FIX     token: The token was revoked.');
    const wrong = await runProcess(slack.apiUrl, ['--nothing']);
    expect(wrong).toMatchObject({ code: 2, output: '' });
    expect(wrong.words).toContain('\n\nUsage:\n  npm run check:slack -- [options]');
  });
});

describe('a workspace that is set up well', () => {
  test('posts test messages that say who ran the check, and passes with no warning', async () => {
    await using slack = await startWorkspace();
    const seen: string[] = [];
    slack.onEvent((event) => {
      if (event.type === 'message' || event.type === 'message_changed')
        seen.push(`${event.message.channel}: ${event.message.text}`);
    });
    const { code, output } = await run(slack.apiUrl, ['--no-gallery', '--channel', '#ops']);
    expect(code).toBe(0);
    expect(output).toContain('✓ ok      post: in #ops.');
    expect(output).toMatch(/\n\d+ ok, 0 warnings, 0 to fix, 2 skipped\.\n$/);
    expect(seen.map((line) => line.slice(0, 10))).toEqual([
      'D0OWNER001',
      'C0OPS00001',
      'C0OPS00001',
      'C0OPS00001',
    ]);
    expect(seen.every((line) => line.includes('its operator ran `npm run check:slack`'))).toBe(true);
    expect(slack.as('otto').in('#ops').messages()).toEqual([]);
    expect(slack.as('olga').in('dm').messages()).toEqual([]);
  });

  test('has its channel checks skipped, not passed, if no channel is named', async () => {
    await using slack = await startWorkspace();
    const { code, findings } = await runJson(slack.apiUrl, ['--no-gallery']);
    expect(code).toBe(0);
    for (const check of ['channel', 'post', 'edit', 'ephemeral message', 'delete'])
      expect(findings[check]).toBe('skipped: name a channel with --channel.');
  });
});

describe('the app-level token, where one is set', () => {
  const APP_TOKEN = 'xapp-8192-never-to-be-printed';
  const inSocketMode = (appToken: string) => ({ SLACK_APP_TOKEN: appToken });

  it('is good when Slack offers a connection for it, which is not opened', async () => {
    await using slack = await startWorkspace();
    slack.app.appToken = APP_TOKEN;
    slack.app.isSocketMode = true;
    const { code, findings } = await runJson(slack.apiUrl, QUICK, inSocketMode(APP_TOKEN));
    expect(code).toBe(0);
    expect(findings['app-level token']).toBe('ok: Slack offers a connection for Socket Mode.');
    expect(slack.sockets.count).toBe(0);
  });

  it('has to be known to Slack and to have its scope, and is not printed', async () => {
    await using slack = await startWorkspace();
    slack.app.appToken = APP_TOKEN;
    slack.app.appTokenScopes = [];
    for (const [token, code] of [
      ['xapp-unknown', 'invalid_auth'],
      [APP_TOKEN, 'missing_scope'],
    ] as const) {
      const { findings, output } = await runJson(slack.apiUrl, QUICK, inSocketMode(token));
      expect(output).not.toContain(token);
      expect(findings['app-level token']).toMatch(
        new RegExp(`^failed ${code}: .*doesn’t accept SLACK_APP_TOKEN.*connections:write`),
      );
    }
    slack.faults.failMethod('apps.connections.open', `odd_${APP_TOKEN}`);
    const { findings } = await runJson(slack.apiUrl, QUICK, inSocketMode(APP_TOKEN));
    expect(findings['app-level token']).toMatch(/^failed odd_\[token\]/);
  });
});

describe('a scope that is missing', () => {
  it('is checked for every scope of the manifest, required or optional as there', () => {
    const { bot, bot_optional } = parse(readFileSync('manifest.yml', 'utf8')).oauth_config.scopes;
    const listed = Object.entries(SCOPES);
    expect(listed.map(([scope]) => scope)).toEqual(bot);
    expect(listed.filter(([, { isRequired }]) => !isRequired).map(([scope]) => scope)).toEqual(bot_optional);
  });

  test.each([
    ['commands', 'failed', {}],
    ['chat:write', 'failed', { 'direct message': 'skipped', post: 'skipped', delete: 'skipped' }],
    ['users:read', 'warning', { users: 'skipped', 'direct message': 'ok' }],
    ['usergroups:read', 'warning', { 'user groups': 'skipped' }],
    ['channels:read', 'warning', { channel: 'failed', post: 'skipped' }],
    ['groups:read', 'warning', { channel: 'ok', post: 'ok' }],
  ])('%s is reported as %s, with what is lost and how to add it', async (scope, status, others) => {
    await using slack = await startWorkspace();
    slack.app.scopes = Object.keys(SCOPES).filter((each) => each !== scope);
    const { findings } = await runJson(slack.apiUrl, ['--no-gallery', '--channel', 'C0OPS00001']);
    expect(findings[`scope ${scope}`]).toMatch(
      new RegExp(`^${status} missing_scope: missing, so .* Add it under OAuth & Permissions`),
    );
    for (const [check, expected] of Object.entries(others))
      expect(findings[check]?.startsWith(expected)).toBe(true);
    expect(listLeftBehind(slack)).toEqual([]);
  });

  test('is a failure if the app has no owner without it', async () => {
    await using slack = await startWorkspace();
    slack.app.scopes = ['commands', 'chat:write'];
    const { code, findings } = await runJson(slack.apiUrl, QUICK, { OWNERS: '' });
    expect(code).toBe(1);
    expect(findings.owners).toMatch(/^failed no_owner: There are none\. Set OWNERS/);
    expect(findings.channel).toMatch(/^skipped: needs the scope channels:read/);
    expect(findings.post).toMatch(/^skipped/);
  });
});

describe('an obstacle to posting is named with its remedy:', () => {
  test('a Messages tab that is off', async () => {
    await using slack = await startWorkspace();
    slack.app.hasMessagesTab = false;
    const { code, findings } = await runJson(slack.apiUrl, QUICK);
    expect(code).toBe(1);
    expect(findings['direct message']).toMatch(/^failed messages_tab_disabled: .*Turn on the Messages tab/);
    expect(findings.post).toMatch(/^ok/);
  });

  test.each([
    ['a channel without the app', 'random', /^failed not_in_channel: .*\/invite @vps/],
    ['a private channel without the app', 'management', /^failed channel_not_found: .*#management.*\/invite/],
    ['an ID that no channel has', 'C0NOWHERE1', /^failed channel_not_found: .*Check the ID/],
    ['a channel that is archived', 'general', /^failed is_archived: .*Name another one/],
    [
      'a channel that other organizations share',
      'acme-shared',
      /^warning shared_channel: .*Nothing was posted/,
    ],
  ])('%s', async (_what, channel, expected) => {
    await using slack = await startWorkspace();
    slack.admin.archive('#general');
    const { findings } = await runJson(slack.apiUrl, ['--no-gallery', '--channel', channel]);
    expect(findings.channel).toMatch(expected);
    for (const check of ['post', 'edit', 'ephemeral message', 'delete'])
      expect(findings[check]).toMatch(/^skipped/);
    expect(slack.brokenRules()).toEqual([]);
    expect(countCalls(slack, 'chat.postEphemeral')).toBe(0);
  });

  test('a user who is not in the channel, or not in the workspace any more', async () => {
    await using slack = await startWorkspace();
    slack.channel('#ops')?.members.delete(USERS.olga.id);
    const outside = await runJson(slack.apiUrl, QUICK);
    expect(outside.findings['ephemeral message']).toMatch(/^failed user_not_in_channel: .*--user/);
    expect(outside.findings.delete).toMatch(/^ok/);
    const gone = await runJson(slack.apiUrl, ['--no-gallery'], {
      OWNERS: `U0UNKNOWN1,${USERS.finn.id},${APP.botUserId}`,
    });
    expect(gone.findings['user U0UNKNOWN1']).toMatch(/^failed user_not_found: .*Correct OWNERS/);
    expect(gone.findings['direct message']).toMatch(/^failed channel_not_found: No user here has this ID/);
    expect(gone.findings[`user ${USERS.finn.id}`]).toMatch(/^failed user_disabled: .*Remove it from OWNERS/);
  });

  test('a posting rule of the workspace, and any unknown error with a link to Slack’s docs', async () => {
    await using slack = await startWorkspace();
    slack.faults.failMethod('chat.postMessage', 'restricted_action', 2);
    const ruled = await runJson(slack.apiUrl, QUICK);
    expect(ruled.findings.post).toMatch(/^failed restricted_action: .*posting permissions/);
    slack.faults.failMethod('chat.update', 'a_new_code', 1);
    const { findings } = await runJson(slack.apiUrl, QUICK);
    expect(findings.edit).toMatch(/^failed a_new_code: .*docs\.slack\.dev\/reference\/methods\/chat\.update/);
    expect(findings.delete).toMatch(/^ok/);
    expect(listLeftBehind(slack)).toEqual([]);
  });

  test('a test message that couldn’t be deleted, which has to be deleted by hand', async () => {
    await using slack = await startWorkspace();
    slack.faults.failMethod('chat.delete', 'cant_delete_message');
    const { code, findings } = await runJson(slack.apiUrl, QUICK);
    expect(code).toBe(1);
    expect(findings.delete).toMatch(
      /^failed cant_delete_message: The test message is still in #ops: delete it there\./,
    );
    expect(listLeftBehind(slack)).toHaveLength(2);
  });
});

describe('a token', () => {
  test.each([
    ['token_revoked', /The token was revoked\. Install the app again/],
    ['account_inactive', /removed from the workspace/],
    ['invalid_auth', /doesn’t accept SLACK_BOT_TOKEN.*Copy the Bot User OAuth Token/],
    ['token_expired', /token rotation is on/],
  ])('that Slack answers with %s ends the check with what to do', async (error, expected) => {
    await using slack = await startWorkspace();
    slack.faults.failMethod('auth.test', error);
    const { code, findings } = await runJson(slack.apiUrl, QUICK);
    expect(code).toBe(1);
    expect(Object.keys(findings)).toEqual(['public address', 'hosting API', 'token', 'everything else']);
    expect(findings.token).toMatch(expected);
    expect(findings['everything else']).toMatch(/^skipped/);
  });

  test('of an installation for a whole organization is refused', async () => {
    await using slack = await startWorkspace();
    slack.admin.joinGrid({ isOrgInstall: true });
    const { findings } = await runJson(slack.apiUrl, QUICK);
    expect(findings.token).toMatch(/^failed org_install: .*Install the app in one workspace/);
  });

  test('that is missing is named, like every other setting', async () => {
    const { code, findings } = await runJson('not an address', QUICK, { SLACK_BOT_TOKEN: '' });
    expect(code).toBe(1);
    expect(findings.settings).toMatch(/SLACK_BOT_TOKEN is missing.*SLACK_API_URL must be/);
  });
});

describe('the gallery', () => {
  test('names the message that Slack refuses, and the block in it', async () => {
    await using slack = await startWorkspace();
    slack.faults.refuseBlock('data_table');
    const { code, findings } = await runJson(slack.apiUrl, []);
    expect(code).toBe(1);
    const refused = Object.entries(findings).filter(([check]) => check.startsWith('gallery: '));
    expect(refused.map(([check]) => check)).toContain('gallery: catalog, typical');
    for (const [, found] of refused)
      expect(found).toMatch(
        /^failed invalid_message: Slack refuses it at \/blocks\/\d+\/type \(unknown_type: /,
      );
    expect(findings.gallery).toBeUndefined();
  });

  test('waits as long as Slack asks, reports its progress, and then continues', async () => {
    await using slack = await startWorkspace();
    slack.faults.rateLimit('blocks.validate', { times: 2, retryAfterSeconds: 37 });
    const { code, findings, words, pauses } = await runJson(slack.apiUrl, []);
    expect(code).toBe(0);
    expect(words).toMatch(
      /^Slack limits blocks\.validate: waiting 37 s, 0 of \d+ messages and forms checked\.$/m,
    );
    expect(pauses).toEqual([37_000, 37_000]);
    expect(findings.gallery).toBe(`ok: Slack accepts all ${SOME_PIECES.length} messages and forms.`);
  });
});

describe('a limit of Slack', () => {
  test('doesn’t keep a test message from being deleted', async () => {
    await using slack = await startWorkspace();
    slack.faults.rateLimit('chat.delete', { times: 2, retryAfterSeconds: 30 });
    const { code, words, pauses } = await runJson(slack.apiUrl, QUICK);
    expect(code).toBe(0);
    expect(words).toContain('Slack limits chat.delete: waiting 30 s.');
    expect(pauses).toEqual([30_000, 30_000]);
    expect(listLeftBehind(slack)).toEqual([]);
  });
});

const HTML = '<html><body>Please sign in</body></html>';

describe('an address that is wrong', () => {
  test.each([
    ['a proxy’s page', 200, {}, HTML],
    ['a portal', 302, { location: 'https://portal.example' }, ''],
    ['JSON that isn’t Slack’s', 200, {}, '{"status":"up"}'],
    ['a refusal that can’t be read', 200, {}, '{"ok":false,"error":{"a":1}}'],
  ])('leads to %s, which is not taken for Slack’s answer', async (_what, status, headers, body) => {
    await using other = await startOther((response) => response.writeHead(status, headers).end(body));
    const { code, findings } = await runJson(`${other.url}/api/`, QUICK);
    expect(code).toBe(1);
    expect(findings.token).toMatch(/^failed not_slack: .*check SLACK_API_URL/);
  });

  test('is reported with the error code of an unknown host or a broken connection', async () => {
    await using broken = await startOther((response) => response.destroy());
    expect((await runJson(broken.url, QUICK)).findings.token).toMatch(
      /^failed UND_ERR_SOCKET: Slack can’t be/,
    );
    const { findings } = await runJson('https://slack.invalid/api/', QUICK);
    expect(findings.token).toMatch(/^failed (ENOTFOUND|EAI_AGAIN): .*DNS/);
    expect(findings['hosting API']).toMatch(/^failed (ENOTFOUND|EAI_AGAIN): slack\.invalid can’t be reached/);
  });

  test('never makes the check print the token, even if the server repeats it or it can’t be sent', async () => {
    await using echo = await startOther((response, authorization) =>
      response.end(
        JSON.stringify({ ok: true, team: authorization, team_id: 'T1', user_id: 'U1', bot_id: 'B1' }),
      ),
    );
    const { findings } = await runJson(echo.url, QUICK);
    expect(findings.token).toContain('workspace Bearer [token]');
    expect(findings.scopes).toMatch(/^warning scopes_unknown/);
    const odd = await runJson(echo.url, QUICK, { SLACK_BOT_TOKEN: 'xoxb-1234‑567\u0001' });
    expect(odd.findings.token).toMatch(/^failed .*stray character/);
  });

  test.each([
    [200, 'ok\n', /^ok: .*\/livez answers\.$/],
    [200, HTML, /^failed status_200: .*other than the app/],
    [503, HTML, /^failed status_503: .*start the app/],
  ])('is recognized by what PUBLIC_URL answers: %s %j', async (status, body, expected) => {
    await using slack = await startWorkspace();
    await using app = await startOther((response) => response.writeHead(status).end(body));
    const { findings } = await runJson(slack.apiUrl, QUICK, { PUBLIC_URL: app.url });
    expect(findings['public address']).toMatch(expected);
  });

  test('is a warning if this machine can’t reach PUBLIC_URL, since others may', async () => {
    await using slack = await startWorkspace();
    const { code, findings } = await runJson(slack.apiUrl, QUICK, { PUBLIC_URL: 'https://vps.invalid' });
    expect(code).toBe(0);
    expect(findings['public address']).toMatch(/^warning .*: https:\/\/vps\.invalid\/livez can’t be reached/);
  });
});

describe('the command line of npm run check:slack', () => {
  test.each([
    [['--chanel', 'ops'], 'Unknown option'],
    [['--channel', 'two words'], "--channel needs a channel's ID or name"],
    [['--user', 'olga'], '--user needs a Slack user ID'],
    [['ops'], 'I didn\'t understand "ops".'],
  ])('with %j is refused with what is wrong', async (args, expected) => {
    await expect(run('http://127.0.0.1:9/api/', args)).rejects.toThrow(expected);
  });

  test('with --help shows the usage and sends nothing', async () => {
    const { code, output } = await runProcess('http://127.0.0.1:9/api/', ['--help']);
    expect(code).toBe(0);
    for (const option of ['--channel', '--user', '--no-gallery', '--json']) expect(output).toContain(option);
  });
});
