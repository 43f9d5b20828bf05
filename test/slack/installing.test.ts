import { describe, expect, it, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { type Fields, type Log, silentLog } from '../../src/log.ts';
import { textMessage } from '../../src/slack/kit/blocks.ts';
import { createRefusalLog, createSlackAbilities } from '../../src/slack/refusals.ts';
import { createSlackConnections, type SeenAnswer } from '../../src/slack/slack-api.ts';
import { createTokenService } from '../../src/slack/tokens.ts';
import { realSystem } from '../../src/system.ts';
import { startServer } from '../hosting/support.ts';
import { UNTRIED } from '../support/context.ts';
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

  test('has an unknown outcome if the answer lacks the tokens', async () => {
    expect(await refresh(await answering({ ok: true }))).toMatchObject({ kind: 'unknown' });
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

const TRIED: readonly (readonly [string, SeenAnswer, string])[] = [
  ['a direct message', { method: 'chat.postMessage', channelId: 'U0OWNER001' }, 'direct_messages'],
  ['a message in a channel', { method: 'chat.postMessage', channelId: 'C0OPS00001' }, 'announcements'],
  ['an announcement by response_url', { method: 'response_url', isAnnouncement: true }, 'announcements'],
  ['users.info', { method: 'users.info' }, 'user_lookups'],
  ['usergroups.list', { method: 'usergroups.list' }, 'group_lookups'],
  ['conversations.info', { method: 'conversations.info', channelId: 'C0OPS00001' }, 'channel_lookups'],
];

/** Slack's answers in the order in which they were seen. */
function seenBy(...answers: readonly SeenAnswer[]) {
  const clock = handClock();
  const abilities = createSlackAbilities(clock.system);
  for (const answer of answers) abilities.watch('T1', answer);
  return { clock, read: () => abilities.read('T1'), readElsewhere: () => abilities.read('T2') };
}

describe('the app’s abilities in Slack', () => {
  it.each(TRIED)('name one as working after Slack accepts %s, and no other', (_name, answer, ability) => {
    const { read, readElsewhere } = seenBy(answer);
    expect(read()).toEqual({ ...UNTRIED, [ability]: 'works' });
    expect(readElsewhere()).toEqual(UNTRIED);
  });

  it.each([
    ['an answer for one user', { method: 'response_url', isAnnouncement: false }],
    ['a lookup of a direct message', { method: 'conversations.info', channelId: 'D0DIRECT01' }],
    ['a user whom Slack does not know', { method: 'users.info', error: 'user_not_found' }],
    ['a short outage', { method: 'usergroups.list', error: 'internal_error' }],
    ['a rate limit', { method: 'users.info', error: 'ratelimited' }],
  ])('are still untried after %s', (_name, answer) => {
    expect(seenBy(answer).read()).toEqual(UNTRIED);
  });

  it('name the missing scope of the manifest, and no other that would suffice', () => {
    const answer = { method: 'conversations.info', channelId: 'C0PRIVATE1', error: 'missing_scope' };
    const { channel_lookups: named } = seenBy({ ...answer, neededScope: 'groups:read,mpim:read' }).read();
    expect(named).toEqual({ code: 'missing_scope', scopes: ['groups:read'] });
    const { channel_lookups: unnamed } = seenBy(answer).read();
    expect(unnamed).toEqual({ code: 'missing_scope', scopes: ['channels:read', 'groups:read'] });
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
