import { describe, expect, test } from 'vitest';
import { run, runJson, startOther, startWorkspace, TOKEN } from './support/check-slack.ts';

const QUICK = ['--no-gallery'];
const HTML = '<html><body>Please sign in</body></html>';

describe('where Slack can’t be reached', () => {
  test.each([
    ['a proxy’s page', 200, {}, HTML, /^failed not_slack: .*proxy.*reach Slack directly/],
    ['a proxy that wants a password', 407, {}, HTML, /^failed not_slack: .*HTTP 407/],
    ['a portal', 302, { location: 'https://portal.example' }, '', /^failed redirect: .*sign this machine in/],
    ['a gateway’s error', 502, {}, HTML, /^failed server_error: .*HTTP 502.*Try again later/],
    ['JSON that isn’t Slack’s', 200, {}, '{"status":"up"}', /^failed not_slack/],
    ['a refusal that can’t be read', 200, {}, '{"ok":false,"error":{"a":1}}', /^failed not_slack/],
  ])('%s is not taken for Slack’s answer', async (_what, status, headers, body, expected) => {
    await using other = await startOther((response) => response.writeHead(status, headers).end(body));
    const { code, findings } = await runJson(`${other.url}/api/`, QUICK);
    expect(code).toBe(1);
    expect(findings.token).toMatch(expected);
  });

  test('silence, a closed port, a broken connection and an unknown host are distinguished', async () => {
    await using silent = await startOther(() => {});
    const late = await runJson(silent.url, [...QUICK, '--timeout', '1']);
    expect(late.findings.token).toMatch(/^failed timeout: Slack didn’t answer within 1 s\..*--timeout/);
    await using broken = await startOther((response) => response.destroy());
    expect((await runJson(broken.url, QUICK)).findings.token).toMatch(/^failed connection_lost: /);
    const { url } = await startOther(() => {}).then(async (other) => {
      await other[Symbol.asyncDispose]();
      return other;
    });
    expect((await runJson(url, QUICK)).findings.token).toMatch(/^failed connection_refused: .*firewall/);
    const nowhere = await runJson('https://slack.invalid/api/', QUICK);
    expect(nowhere.findings.token).toMatch(/^failed name_not_found: .*DNS/);
  });
});

describe('the token', () => {
  test('is not printed when the other side repeats it', async () => {
    await using echo = await startOther((response, authorization) =>
      response.end(
        JSON.stringify({
          ok: true,
          team: authorization,
          team_id: authorization,
          user: `@${authorization}`,
          user_id: 'U0VPSBOT01',
          bot_id: 'B0VPSBOT01',
        }),
      ),
    );
    const { findings } = await runJson(echo.url, QUICK);
    expect(findings.token).toContain('workspace Bearer [token]');
    expect(findings.scopes).toMatch(/^warning scopes_unknown/);
    await using refusing = await startOther((response) =>
      response.end(JSON.stringify({ ok: false, error: TOKEN })),
    );
    expect((await runJson(refusing.url, QUICK)).findings.token).toMatch(/^failed \[token\]: /);
  });

  test('is not printed when it can’t be sent, and the stray character is named', async () => {
    await using slack = await startWorkspace();
    const { findings } = await runJson(slack.apiUrl, QUICK, { SLACK_BOT_TOKEN: 'xoxb-1234‑567\u0001' });
    expect(findings.token).toMatch(/^failed network: .*stray character/);
  });
});

describe('the public address', () => {
  test.each([
    [200, 'ok\n', /^ok: .*\/livez answers\.$/],
    [200, HTML, /^failed status_200: .*other than the app/],
    [404, 'not found\n', /^failed status_404: .*Check PUBLIC_URL/],
    [503, HTML, /^failed status_503: .*start the app/],
  ])('that answers %s %j is judged by what it says', async (status, body, expected) => {
    await using slack = await startWorkspace();
    await using app = await startOther((response) => response.writeHead(status).end(body));
    const { findings } = await runJson(slack.apiUrl, QUICK, { PUBLIC_URL: app.url });
    expect(findings['public address']).toMatch(expected);
  });

  test('that this machine can’t reach is a warning: others may', async () => {
    await using slack = await startWorkspace();
    const { code, findings } = await runJson(slack.apiUrl, QUICK, { PUBLIC_URL: 'https://vps.invalid' });
    expect(code).toBe(0);
    expect(findings['public address']).toMatch(/^warning name_not_found: https:\/\/vps\.invalid\/livez/);
  });
});

describe('the command line', () => {
  test.each([
    [['--chanel', 'ops'], 'Unknown option'],
    [['--channel', 'two words'], "--channel needs a channel's ID or name"],
    [['--user', 'olga'], '--user needs a Slack user ID'],
    [['--timeout', '0'], '--timeout needs a number'],
    [['ops'], 'I didn\'t understand "ops".'],
  ])('with %j ends with 2, the mistake and the usage', async (args, expected) => {
    const { code, output, words } = await run('http://127.0.0.1:9/api/', args);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(words).toContain(expected);
    expect(words).toContain('npm run check:slack -- [options]');
  });

  test('with --help shows the usage and sends nothing', async () => {
    const { code, output } = await run('http://127.0.0.1:9/api/', ['--help']);
    expect(code).toBe(0);
    for (const option of ['--channel', '--user', '--no-gallery', '--timeout', '--json'])
      expect(output).toContain(option);
  });
});
