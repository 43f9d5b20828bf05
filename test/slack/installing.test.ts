import { describe, expect, it, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { type Fields, type Log, silentLog } from '../../src/log.ts';
import { textMessage } from '../../src/slack/kit/blocks.ts';
import { createRefusalLog, createSetupProblems } from '../../src/slack/refusals.ts';
import { createSlackConnections, type SeenAnswer } from '../../src/slack/slack-api.ts';
import { createTokenService } from '../../src/slack/tokens.ts';
import { realSystem } from '../../src/system.ts';
import { startServer } from '../hosting/support.ts';
import { handClock } from './support/fakes.ts';

function open(apiUrl: string) {
  const connections = createSlackConnections({ apiUrl, log: silentLog, system: realSystem });
  onTestFinished(() => connections.close());
  const client = { clientId: '1.2', clientSecret: new Secret('canary-secret') };
  return createTokenService(connections, client, realSystem);
}

const REFRESH_TOKEN = new Secret('canary-refresh');
const refresh = (apiUrl: string) => open(apiUrl).refresh(REFRESH_TOKEN);

/** A Slack that answers with this. */
async function answeringText(body: string, { status = 200, type = 'application/json' } = {}) {
  const { baseUrl } = await startServer((_, response) =>
    response.writeHead(status, { 'content-type': type }).end(body),
  );
  return `${baseUrl}/`;
}

const answering = (answer: unknown, status = 200) => answeringText(JSON.stringify(answer), { status });

describe('a refresh of a token', () => {
  test('has an unknown outcome if the connection ends without an answer', async () => {
    const { baseUrl } = await startServer(({ socket }) => socket.destroy());
    expect(await refresh(`${baseUrl}/`)).toMatchObject({ kind: 'unknown' });
  });

  test.each([
    ['internal_error', 200, 'unknown'],
    ['bad_client_secret', 200, 'unknown'],
    ['ECONNREFUSED', 200, 'unknown'],
    ['invalid_refresh_token', 200, 'refused'],
    ['account_inactive', 200, 'refused'],
    ['invalid_refresh_token', 503, 'unknown'],
  ])('that is answered with %s (%i) is %s', async (error, status, kind) => {
    expect(await refresh(await answering({ ok: false, error }, status))).toMatchObject({ kind });
  });
});

test.each([
  [{ ok: true }, 'works'],
  [{ ok: false, error: 'account_inactive' }, 'revoked'],
  [{ ok: false, error: 'token_revoked' }, 'revoked'],
  [{ ok: false, error: 'token_expired' }, 'unknown'],
  [{ ok: false, error: 'ratelimited' }, 'unknown'],
  // Also the answer to a request from an address that the app's settings don't allow.
  [{ ok: false, error: 'invalid_auth' }, 'unknown'],
  [{ ok: false, error: 'internal_error' }, 'unknown'],
])('a token of which Slack says %j counts as %s', async (answer, verdict) => {
  expect(await open(await answering(answer)).test(new Secret('canary-token'))).toBe(verdict);
});

/** Slack's answers in the order in which they were seen. */
function seenBy(...answers: readonly SeenAnswer[]) {
  const clock = handClock();
  const problems = createSetupProblems(clock.system);
  for (const answer of answers) problems.watch('T1', answer);
  const read = (workspaceId = 'T1') => problems.read(workspaceId).map(({ error }) => error);
  return { clock, problems, read };
}

describe('what Slack refuses because of the app’s setup', () => {
  const post = (channelId: string, error?: string) => ({ method: 'chat.postMessage', channelId, error });
  const TAB = 'messages_tab_disabled';

  it.each([
    ['the Messages tab is off', post('U0OWNER001', TAB)],
    ['an admin restricts a channel', post('C0OPS00001', 'restricted_action')],
    ['a scope is missing', { method: 'users.info', error: 'missing_scope' }],
    ['the token is refused', { method: 'usergroups.list', error: 'token_revoked' }],
  ])('is known for an hour, in its workspace alone, if %s', async (_name, answer) => {
    const { clock, read } = seenBy(answer);
    expect(read()).toEqual([answer.error]);
    expect(read('T2')).toEqual([]);
    await clock.pass(59 * 60_000);
    expect(read()).toEqual([answer.error]);
    await clock.pass(60_000);
    expect(read()).toEqual([]);
  });

  it('is forgotten when Slack takes the same call, and not by another one', () => {
    const { problems, read } = seenBy(post('U0OWNER001', TAB), post('C0OPS00001', 'restricted_action'));
    problems.watch('T1', post('C0RANDOM01'));
    problems.watch('T2', post('U0OWNER001'));
    expect(read()).toEqual(['restricted_action', TAB]);
    problems.watch('T1', post('D0DIRECT01'));
    expect(read()).toEqual(['restricted_action']);
    problems.watch('T1', post('C0OPS00001'));
    expect(read()).toEqual([]);
    problems.watch('T1', { method: 'users.list', error: 'missing_scope' });
    problems.watch('T1', { method: 'users.info' });
    expect(read()).toEqual([]);
  });

  it.each([
    ['a user whom Slack does not know', { method: 'users.info', error: 'user_not_found' }],
    ['a short outage', { method: 'usergroups.list', error: 'internal_error' }],
    ['a rate limit', { method: 'users.info', error: 'ratelimited' }],
  ])('is not %s', (_name, answer) => {
    expect(seenBy(answer).read()).toEqual([]);
  });
});

function rememberingLog() {
  const warned: Fields[] = [];
  const log: Log = { ...silentLog, warn: (_words, fields = {}) => void warned.push(fields) };
  return { log, warned };
}

/** Our client over a server that answers everything with this. */
async function clientOf(body: string, options: { status?: number; type?: string } = {}) {
  const url = await answeringText(body, options);
  const { log, warned } = rememberingLog();
  const connections = createSlackConnections({ apiUrl: url, log, system: realSystem });
  onTestFinished(() => connections.close());
  const api = connections.open(async () => ({ token: new Secret('xoxb-x') }));
  return { api, warned, respond: () => api.respond(new Secret(url), { text: 'x' }) };
}

describe('what Slack refuses', () => {
  it('is logged with Slack’s code and pointers, and with nothing that was posted', async () => {
    const { api, warned } = await clientOf(
      JSON.stringify({
        ok: false,
        error: 'invalid_blocks',
        needed: 'chat:write',
        response_metadata: {
          messages: ['[ERROR] must not be "our secret words" [json-pointer:/blocks/0/text/text]', '[WARN] x'],
        },
      }),
    );
    expect(await api.post('C1', textMessage('our secret words'))).toEqual({
      ok: false,
      error: 'invalid_blocks',
    });
    expect(warned).toEqual([
      {
        method: 'chat.postMessage',
        code: 'invalid_blocks',
        pointers: '/blocks/0/text/text',
        neededScope: 'chat:write',
      },
    ]);
  });

  it('is masked if it does not look like a code', () => {
    const { log, warned } = rememberingLog();
    createRefusalLog(log, realSystem)('chat.update', { code: 'our words\nin a code', pointers: [] });
    expect(warned).toMatchObject([{ code: 'unreadable' }]);
  });
});

describe('a post to a response_url', () => {
  it.each([
    ['ok', true],
    [' { "ok" : true }', true],
    ['', false],
    ['okay then', false],
    ['{"result":"ok"}', false],
  ])('has worked when Slack answers %j (says ok: %s)', async (body, saysOk) => {
    const { respond } = await clientOf(body);
    expect(await respond()).toEqual({ ok: true, saysOk });
  });

  it.each([
    ['a page that mentions the word', '<p>{"ok":true}</p>', 'text/html'],
    ['an error in JSON', '{"ok":false,"error":"used_url"}', 'application/json'],
    ['an error in JSON, after something else', '{"echo":{"ok":true},"ok":false}', 'text/plain'],
  ])('has failed when the answer is %s', async (_name, body, type) => {
    const { respond, warned } = await clientOf(body, { type });
    expect((await respond()).ok).toBe(false);
    expect(warned).toHaveLength(1);
  });

  it('has failed with any status but a 2xx', async () => {
    for (const status of [302, 404, 500]) {
      const { respond } = await clientOf('ok', { status });
      expect((await respond()).ok).toBe(false);
    }
  });
});
