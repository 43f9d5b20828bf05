import { connect } from 'node:net';
import type { Dice } from '../support/tries.ts';
import type { Arena } from './arena.ts';
import { damage, encodeText, oddText } from './mutate.ts';

/** The app's own pages, as a browser asks for them. */
export async function makePageRequest(arena: Arena, dice: Dice) {
  const team = dice.chance(0.5) ? arena.team : arena.installs;
  const text = (await dice.pick(PAGES)?.(arena, dice)) ?? '';
  const times = 1 + dice.number(3);
  let malformed = text;
  for (let time = 0; time < times; time++) malformed = damage(malformed, dice);
  return {
    port: Number(new URL(team.appUrl).port),
    text: malformed,
    done: [text.split('\r\n')[0] ?? '', `damaged ${times} times`],
  };
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`;

function post(path: string, body: string, headers = ''): string {
  const type = 'content-type: application/x-www-form-urlencoded';
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${type}\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;
}

const PAGES: readonly ((arena: Arena, dice: Dice) => string | Promise<string>)[] = [
  (_, dice) =>
    get(dice.pick(['/', '/livez', '/readyz', '/metrics', '/slack/events', '/slack/install']) ?? '/'),
  () => get('/metrics', 'authorization: Bearer a-metrics-token-of-the-tests\r\n'),
  (_, dice) => get(`/connect/${encodeText(oddText(dice)).slice(0, 2000)}`),
  ({ link }) => get(link),
  ({ link }, dice) => post(link, `api_key=${encodeText(oddText(dice))}`),
  async ({ installs }) => {
    const visit = installs.browser();
    const state = new URL(await visit.begin()).searchParams.get('state');
    return get(`/slack/oauth_redirect?code=a.b&state=${state}`, `cookie: ${visit.cookie}\r\n`);
  },
  (_, dice) =>
    get(
      `/slack/oauth_redirect?error=access_denied&state=${'x'.repeat(dice.number(500))}`,
      'cookie: a=b; a=c\r\n',
    ),
  (_, dice) =>
    post(
      '/slack/events',
      'command=%2Fvps&text=list',
      `x-slack-signature: v0=${'0'.repeat(dice.number(99))}\r\nx-slack-request-timestamp: ${Math.floor(Date.now() / 1000)}\r\n`,
    ),
  () => post('/slack/events', 'ssl_check=1&token=x'),
];

/** Sends bytes and closes this end; gives all that came back until the other end was closed, too. */
export function speak(port: number, text: string, patienceMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const parts: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error('neither an answer nor the end of the connection in time'));
    }, patienceMs);
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(parts).toString('latin1'));
    };
    socket.on('data', (part) => parts.push(part));
    socket.on('error', end);
    socket.on('close', end);
    socket.end(Buffer.from(text, 'latin1'));
  });
}
