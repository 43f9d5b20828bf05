import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/log.ts';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { changesSeen, envelope, type RawUser, rawUser } from '../support/raw-user.ts';
import { SLACK_MODE, startTeam, type Team } from '../support/team.ts';

/** Traces of the source code: no answer may show any of it. */
const INSIDES = /\bat .+:\d+:\d+|node_modules|file:\/\/|\.[jt]s:\d+|TypeError|SyntaxError|ZodError|\/src\//;

const isOverHttp = SLACK_MODE === 'http';

let team: Team;
const defects: string[] = [];
beforeAll(async () => {
  const error = (words: string, fields?: object) => defects.push(`${words} ${JSON.stringify(fields)}`);
  team = await startTeam({ servers: 2, log: { ...silentLog, error } });
  // Bolt gives up on unhandled requests after 3,001 ms, right after Slack; over a WebSocket it leaves them unanswered.
  team.slack.app.ackTimeoutMs = isOverHttp ? 20_000 : 3000;
});
afterAll(() => team[Symbol.asyncDispose]());

function expectSane({ status, response, what }: Delivery): void {
  if (isOverHttp) expect(status, what).not.toBeNull();
  expect(response).not.toMatch(INSIDES);
  expect(response.length).toBeLessThan(20_000);
}

async function expectAlive(): Promise<void> {
  // A process that these tests hold up for seconds may have to replace its WebSocket.
  await expect.poll(() => team.app.faults()).toEqual([]);
  const viewer = team.slack.as('vera').in('#general').overlooksOldMessages();
  await viewer.types('/vps list');
  await viewer.sees('web-1');
  const { status } = await fetch(`${team.appUrl}/readyz`);
  expect(status).toBe(200);
  expect(defects).toEqual([]);
}

/** Over a WebSocket there are no content types: what is no form is sent as an event. */
async function sendBody(body: string, contentType?: string): Promise<Delivery> {
  if (!isOverHttp) return team.slack.deliverBody(contentType === 'application/json' ? 'json' : 'form', body);
  return team.slack.deliverAt(0, body, contentType);
}

const form = (payload: unknown) => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

describe('a signed request with a malformed payload', () => {
  it('is answered without revealing internals, whatever its body, content type or kind', async () => {
    // Deeper ones can't be put into an envelope by the local Slack itself.
    const levels = isOverHttp ? 20_000 : 2000;
    const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const bodies = [
      '',
      'payload',
      'payload=',
      'payload=null',
      'payload={}',
      `payload=${encodeURIComponent(deep)}`,
      'payload=%E0%A4%A',
      'command',
      'command=/vps&text=list&user_id=U1',
      'command=/vps&command=/vps&user_id=U1&user_id=U2&team_id=T1&text=a&text=b',
      '__proto__=1&constructor=2&command=/vps&user_id=U1&team_id=T1',
      'command=%2Fvps&text=%00&user_id=U1&team_id=T0SANDBOX',
      '{"type":"url_verification","challenge":"x"}',
      '\u0000\u0001\u0002',
      form({ type: 'block_actions' }),
      form({ type: 'block_actions', actions: [null] }),
      form({ type: 'block_actions', actions: [{ action_id: 1 }], user: 'x' }),
      form({ type: 'view_submission', view: null }),
      form({ type: 'view_submission', view: { callback_id: 'create' }, user: { id: 'U1' } }),
      form({ type: 'block_suggestion', action_id: 'manage', value: 'x' }),
    ];
    const body = new URLSearchParams(team.slack.commandFields('olga', '#ops', 'reboot web-1')).toString();
    const types = [
      '',
      'application/json',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'application/x-www-form-urlencoded; charset=nonsense',
      'x'.repeat(5000),
    ];
    const json = ['null', '{}', '{"type":"event_callback"}', '{"type":"event_callback","event":1}'];
    const by = rawUser(team, 'olga');
    const answers = await Promise.all([
      ...bodies.map((each) => sendBody(each)),
      ...(isOverHttp ? types : []).map((type) => sendBody(body, type)),
      ...json.map((text) => sendBody(text, 'application/json')),
      // Unhandled: Bolt gives up on them after three seconds.
      by.interacts('shortcut', { callback_id: 'x' }),
      by.interacts('message_action', { callback_id: 'manage_server', message: null }),
      by.interacts('message_action', {
        callback_id: 'manage_server',
        message: { ts: '1.2', text: { a: 1 }, blocks: [[[[null]]]], attachments: [{ fields: [1] }, 'x'] },
      }),
      by.interacts('shortcut', { callback_id: 'servers', channel: undefined, trigger_id: undefined }),
      by.interacts('view_closed', { view: { id: 'V1', callback_id: 'create' } }),
      by.interacts('interactive_message', { callback_id: 'x', actions: [{ name: 'a', value: 'b' }] }),
      by.interacts('dialog_submission', { callback_id: 'x', submission: {} }),
      by.interacts('never_heard_of', {}),
    ]);
    for (const answer of answers) expectSane(answer);
    expect(changesSeen(team)).toEqual([]);
    await expectAlive();
  });

  it('is acknowledged, and changes nothing, when it is an event that an edited manifest may subscribe to', async () => {
    const { slack } = team;
    const subscribed = slack.app.events;
    slack.app.events = ['app_home_opened', 'app_uninstalled', 'app_mention', 'message.im'];
    const at = Math.floor(Date.now() / 1000);
    const mention = { type: 'app_mention', user: 'U0OPERATOR', channel: 'C0OPS00001', ts: `${at}.000900` };
    const odd = [
      { ...mention, text: null },
      { ...mention, text: { text: 'stop web-1' } },
      { ...mention, text: '<@U0VPSBOT01> stop web-1', ts: 'now' },
      { ...mention, text: '<@U0VPSBOT01> stop web-1', user: { id: 'U0OPERATOR' } },
      { ...mention, text: '<@U0VPSBOT01> stop web-1', channel: {} },
      { ...mention, text: '<@U0VPSBOT01> stop web-1', subtype: null },
      { ...mention, text: '<@UOTHER0001> stop web-1' },
      { ...mention, text: `<@U0VPSBOT01> ${'x '.repeat(19_000)}`, ts: `${at}.000901` },
      { ...mention, text: '<@U0VPSBOT01> \u0000\u202e', ts: `${at}.000902` },
      { type: 'message', channel_type: 'im' },
      { type: 'message', channel_type: 'im', user: 'U0OPERATOR', channel: 'D1', ts: `${at}.1`, text: [] },
    ];
    for (const event of odd) expect(await slack.sendEvent(event)).toMatchObject({ status: 200 });
    const events = [{ type: 'app_home_opened', user: rawUser(team, 'olga').id }, { type: 'app_uninstalled' }];
    for (const event of events) expect(await slack.sendEvent(event)).toMatchObject({ status: 200 });
    slack.app.events = subscribed;
    expect(changesSeen(team)).toEqual([]);
    await expectAlive();
  });

  it('is refused when it is too long', async () => {
    const long = `command=%2Fvps&text=${'a'.repeat(2_000_000)}`;
    const { status, response } = await sendBody(long);
    expect(isOverHttp ? [413, null] : [200]).toContain(status);
    expect(response).not.toMatch(INSIDES);
    await expectAlive();
  });
});

describe('a button or a form that this app never made', () => {
  const cases: readonly [string, (by: RawUser) => Promise<Delivery>][] = [
    ['an unknown button', (by) => by.presses('nothing')],
    ['a button called __proto__', (by) => by.presses('__proto__')],
    [
      'a value that is not JSON',
      (by) => by.interacts('block_actions', { actions: [{ action_id: 'reboot', value: '{' }] }),
    ],
    ['the value null', (by) => by.presses('reboot', null)],
    ['a page number of 1e308', (by) => by.presses('list_page', { filter: '', page: 1e308 })],
    ['a menu’s choice that is not an ID', (by) => by.chooses('manage', '../../etc/passwd')],
    [
      'an audit page with a cursor that the app never issued',
      (by) => by.presses('audit_page', { before: "' OR 1=1 --" }),
    ],
    ['a server that doesn’t exist', (by) => by.presses('reboot', { id: 999_999_999 })],
    [
      'a password of an order that doesn’t exist',
      (by) => by.presses('password_saved', { operationId: 'x'.repeat(100_000) }),
    ],
  ];

  it.each(cases)('is answered with an explanation: %s', async (_name, send) => {
    const by = rawUser(team, 'olga');
    const before = by.mark();
    expectSane(await send(by));
    await by.seesChange(before);
    expect(by.mark()).not.toContain('incident');
    expect(by.mark()).not.toMatch(INSIDES);
    expect(changesSeen(team)).toEqual([]);
  });

  const order = { plan: 'micro', location: 'ams', image: 'debian-13', label: 'x' };
  const forms: readonly [string, (by: RawUser) => Promise<Delivery>, RegExp][] = [
    ['an unknown form', (by) => by.submits('nothing', envelope({}, 'F1')), /out of date/],
    ['a form called __proto__', (by) => by.submits('__proto__', envelope({}, 'F1')), /out of date/],
    ['metadata that is not JSON', (by) => by.submits('create_review', '{'), /out of date/],
    ['metadata of another kind', (by) => by.submits('create_review', envelope({}, 'F1')), /out of date/],
    [
      'a price that is not a number',
      (by) => by.submits('create_review', envelope({ order, price: 'x' }, 'F2')),
      /out of date/,
    ],
    ['fields that are missing', (by) => by.submits('create', envelope({}, 'F3')), /Choose a plan/],
    [
      'a plan that is not in the catalog',
      (by) => by.submits('create', envelope({}, 'F4'), { ...order, plan: 'free' }),
      /no plan called `free`/,
    ],
    [
      'a delete whose typed label doesn’t match',
      (by) => by.submits('delete', envelope({ serverId: 1001, label: 'x', word: 'x' }, 'F5'), { label: 'y' }),
      /doesn’t match/,
    ],
    [
      'a decision that the form doesn’t offer',
      (by) => by.submits('decide', envelope({ operationId: 'x' }, 'F6'), { outcome: '; drop' }),
      /out of date/,
    ],
  ];

  it.each(forms)('is answered in the form: %s', async (_name, send, words) => {
    const by = rawUser(team, 'olga');
    const answer = await send(by);
    expectSane(answer);
    expect(answer.status).toBe(200);
    expect(answer.response).toMatch(words);
  });

  it('pays nothing if its price was altered, and deletes nothing if its label was altered', async () => {
    const by = rawUser(team, 'mara');
    await by.submits('create_review', envelope({ order, price: 1 }, 'F-altered'));
    await team.manager.sees('The price changed');
    const word = envelope({ serverId: 1001, label: 'web-1', word: 'yes' }, 'F-word');
    const { response } = await by.submits('delete', word, { label: 'yes' });
    expect(response.replaceAll('`', '')).toMatch(/Type web-1\b/);
    expect(changesSeen(team)).toEqual([]);
  });
});

describe('bytes that are not HTTP', () => {
  const requests = [
    'GET // HTTP/1.1\r\nhost: a\r\n\r\n',
    'GET /../../etc/passwd HTTP/1.1\r\nhost: a\r\n\r\n',
    'GET http://[::1 HTTP/1.1\r\nhost: a\r\n\r\n',
    'GET /%%% HTTP/1.1\r\nhost: a\r\n\r\n',
    'GET /constructor HTTP/1.1\r\nhost: a\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
    'CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 0\r\n\r\n',
    'DELETE /slack/events HTTP/1.1\r\nhost: a\r\n\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\nexpect: the-unexpected\r\ncontent-length: 0\r\n\r\n',
    'POST /slack/events HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc',
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    '\u0016\u0003\u0001\u0002\u0000\u0001',
    'GET /livez HTTP/1.1\r\nhost: a\r\n\r\nGET // HTTP/1.1\r\nhost: a\r\n\r\n',
  ];

  it('are answered, or the connection is closed', async () => {
    const port = Number(new URL(team.appUrl).port);
    const answers = await Promise.all(requests.map((text) => speak(port, text)));
    for (const [place, { text, isClosed }] of answers.entries()) {
      expect(text !== '' || isClosed, JSON.stringify(requests[place]?.slice(0, 60))).toBe(true);
      expect(text).not.toMatch(INSIDES);
      expect(text).not.toContain('root:');
    }
    await expectAlive();
  });

  it('don’t hold up other requests, even if they never end', async () => {
    const port = Number(new URL(team.appUrl).port);
    const slow = Array.from({ length: 300 }, (_, place) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(
        place % 2 === 0
          ? 'GET /livez HTTP/1.1\r\nx-slow: '
          : 'POST /slack/events HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\ncommand=',
      );
      return socket;
    });
    const startedAt = performance.now();
    await expectAlive();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    for (const socket of slow) socket.destroy();
  });
});

/** Sends bytes to a port and reads until an answer or the end of the connection. */
function speak(port: number, text: string): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const end = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: received, isClosed });
    };
    const timer = setTimeout(() => end(false), 4000);
    socket.on('data', (part) => {
      received += part.toString('latin1');
      setTimeout(() => end(false), 50);
    });
    socket.on('error', () => end(true));
    socket.on('close', () => end(true));
    socket.write(text, 'latin1');
  });
}
