import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { type Hosting, startHosting } from '../../src/sandbox/hosting/start.ts';
import { createVault, parseKeyring } from '../../src/vault.ts';
import { makeKey } from '../support/keys.ts';
import { fillWorkspaces, type Installed } from '../support/many-workspaces.ts';
import { signCommand } from './commands.ts';

export const SIGNING_SECRET = 'a-signing-secret-of-the-bench';
const ENCRYPTION_KEY = `k1:${makeKey('bench')}`;
const SERVERS = 20;
const GIVE_UP_MS = 60_000;

/** Takes every answer of the app, and says when the one to a command came. */
export interface ReplyBox extends AsyncDisposable {
  readonly url: string;
  /** When the first answer to this command came, on the clock of this process. @throws Error after a minute */
  replied(nth: number): Promise<number>;
}

/** Types `/vps list`; resolves with the milliseconds until its answer was posted. @throws Error for any answer but 200 */
export async function type(
  pool: Pool,
  { workspaceId, userId }: Installed,
  replies: ReplyBox,
): Promise<number> {
  const typed = { signingSecret: SIGNING_SECRET, replyTo: replies.url, workspaceId, userId };
  const { headers, body, nth } = signCommand(typed);
  const sentAt = performance.now();
  const answer = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`a command was answered with ${answer.statusCode}`);
  return (await replies.replied(nth)) - sentAt;
}

export function openPool(url: string, connections: number) {
  const pool = new Pool(url, { connections });
  return { pool, [Symbol.asyncDispose]: () => pool.close() };
}

/** What surrounds the app: the hosting service and Slack's answers, both in this process. */
export interface ManySetting extends AsyncDisposable {
  readonly hosting: Hosting;
  readonly replies: ReplyBox;
  /** Fills a database with so many workspaces, of which the first have accounts of their own, and tells how to start the app on it. */
  fill(count: number, active: number): Promise<Readonly<Record<string, string>>>;
}

export async function openManySetting(): Promise<ManySetting> {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-workspaces-'));
  const hosting = await startHosting();
  const replies = await openReplyBox();
  let databases = 0;
  return {
    hosting,
    replies,
    fill: async (count, active) => {
      const keys = Array.from({ length: active }, (_, nth) => makeAccount(hosting, nth));
      const databaseUrl = `sqlite:${join(folder, `${++databases}.sqlite`)}`;
      const vault = createVault(parseKeyring(ENCRYPTION_KEY));
      const keyOf = (nth: number) => keys[nth] ?? `an-idle-key-${nth}`;
      await fillWorkspaces({ databaseUrl, vault, count, keyOf });
      return environmentOf(hosting, replies, databaseUrl);
    },
    [Symbol.asyncDispose]: async () => {
      await replies[Symbol.asyncDispose]();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function makeAccount(hosting: Hosting, nth: number): string {
  const account = hosting.accounts.create({ name: `Account ${nth}`, balanceMinor: 100_000 });
  hosting.seedServers(account, SERVERS, 'web');
  return hosting.createKey(account);
}

function environmentOf(hosting: Hosting, { url }: ReplyBox, databaseUrl: string) {
  return {
    HOSTING_BASE_URL: hosting.baseUrl,
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    SLACK_CLIENT_ID: '111.222',
    SLACK_CLIENT_SECRET: 'a-client-secret-of-the-bench',
    PUBLIC_URL: 'http://127.0.0.1',
    SLACK_API_URL: `${url}/api/`,
    ENCRYPTION_KEYS: ENCRYPTION_KEY,
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'info',
    PORT: '0',
  };
}

export async function openReplyBox(): Promise<ReplyBox> {
  const came = new Map<number, number>();
  const waiting = new Map<number, (at: number) => void>();
  const server = createServer((request, response) => {
    const nth = Number(/^\/reply\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
    request.resume().on('end', () => {
      response.end(Number.isNaN(nth) ? '{"ok":true,"user_id":"U0VPSBOT01"}' : 'ok');
      if (Number.isNaN(nth) || came.has(nth)) return;
      const at = performance.now();
      came.set(nth, at);
      waiting.get(nth)?.(at);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    replied: (nth) =>
      new Promise((resolve, reject) => {
        const at = came.get(nth);
        if (at !== undefined) return resolve(at);
        const timer = setTimeout(() => reject(new Error('a command was never replied to')), GIVE_UP_MS);
        waiting.set(nth, (when) => {
          clearTimeout(timer);
          resolve(when);
        });
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
