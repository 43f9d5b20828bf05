import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { type Fields, type Log, silentLog } from '../../../src/log.ts';
import { textMessage } from '../../../src/slack/kit/blocks.ts';
import { createRefusalLog } from '../../../src/slack/refusals.ts';
import { createSlackConnections } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';
import { handClock } from '../support/hand-clock.ts';

const HOUR = 3_600_000;

function rememberingLog() {
  const warned: Fields[] = [];
  const log: Log = { ...silentLog, warn: (_words, fields = {}) => void warned.push(fields) };
  return { log, warned };
}

/** Our client over a server that answers everything with this. */
async function clientOf(body: string, { status = 200, type = 'application/json' } = {}) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { log, warned } = rememberingLog();
  const url = `http://127.0.0.1:${port}/`;
  const connections = createSlackConnections({ apiUrl: url, log, system: realSystem });
  onTestFinished(() => connections.close());
  const api = connections.open(async () => ({ token: new Secret('xoxb-x') }));
  return { api, warned, respond: () => api.respond(new Secret(url), { text: 'x' }) };
}

describe('what Slack refuses', () => {
  it('is logged as a warning once per kind and hour', async () => {
    const { log, warned } = rememberingLog();
    const clock = handClock();
    const refusals = createRefusalLog(log, clock.system);
    const add = (method: string, code: string) => refusals.add(method, { code, pointers: [] });
    add('views.open', 'invalid_arguments');
    add('views.open', 'invalid_arguments');
    add('views.open', 'expired_trigger_id');
    add('views.update', 'invalid_arguments');
    expect(warned.map(({ method, code }) => `${method} ${code}`)).toEqual([
      'views.open invalid_arguments',
      'views.open expired_trigger_id',
      'views.update invalid_arguments',
    ]);
    await clock.pass(HOUR - 1);
    add('views.open', 'invalid_arguments');
    expect(warned).toHaveLength(3);
    await clock.pass(1);
    add('views.open', 'invalid_arguments');
    expect(warned).toHaveLength(4);
  });

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
    createRefusalLog(log, realSystem).add('chat.update', { code: 'our words\nin a code', pointers: [] });
    expect(warned).toMatchObject([{ code: 'unreadable' }]);
  });
});

describe('a post to a response_url', () => {
  it.each([
    ['ok', true],
    ['ok\n', true],
    ['{"ok":true}', true],
    [' { "ok" : true }', true],
    ['', false],
    ['okay then', false],
    ['{"result":"ok"}', false],
  ])('has worked when Slack answers %j (says ok: %s)', async (body, saysOk) => {
    const { respond } = await clientOf(body);
    expect(await respond()).toEqual({ ok: true, saysOk });
  });

  it.each([
    ['a page of a proxy', '<html><body>ok</body></html>', 'text/html'],
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
