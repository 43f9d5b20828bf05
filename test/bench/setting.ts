import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { type Hosting, startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { makeKey } from '../support/environment.ts';
import { type Contender, ROOT, start } from './processes.ts';

export const SIGNING_SECRET = 'a-signing-secret-of-the-bench';
const ENCRYPTION_KEY = `k1:${makeKey('bench')}`;
const BOT_TOKEN = 'xoxb-a-bot-token-of-the-bench';
/** As many as a team may well have: they make the message that every reply posts. */
export const SERVERS = 20;

/** What surrounds the app in the bench: the hosting service in this process, Slack in another, a folder for the data. */
export interface Setting extends AsyncDisposable {
  readonly hosting: Hosting;
  readonly slack: Contender;
  /** Makes a database of its own for one app, and the environment to start it in: production's defaults, any free port. */
  makeEnvironment(): Promise<Readonly<Record<string, string>>>;
  replies(): Promise<Replies>;
}

/** What was posted to the `response_url`s; `lastReplyAt` is epoch milliseconds. */
export interface Replies {
  readonly replies: number;
  readonly lastReplyAt: number;
  /** The last one's body. */
  readonly lastReply: string;
}

/** Starts what the app works with: an account with servers, and a Slack that takes every reply. */
export async function openSetting({ servers = SERVERS, acts = 0 } = {}): Promise<Setting> {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-bench-'));
  const hosting = await startHosting();
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  const ids = hosting.seedServers(account, servers, 'web');
  const apiKey = hosting.createKey(account);
  let databases = 0;
  const slack = await start(`${ROOT}test/bench/slack-stub.mjs`, {}, false);
  return {
    hosting,
    slack,
    makeEnvironment: async () => {
      const databaseUrl = `sqlite:${join(folder, `${++databases}.sqlite`)}`;
      await fillStore(databaseUrl, apiKey, ids.slice(0, acts));
      return {
        HOSTING_BASE_URL: hosting.baseUrl,
        SLACK_SIGNING_SECRET: SIGNING_SECRET,
        SLACK_BOT_TOKEN: BOT_TOKEN,
        SLACK_API_URL: `${slack.url}/api/`,
        ENCRYPTION_KEYS: ENCRYPTION_KEY,
        OWNERS: USERS.olga.id,
        DATABASE_URL: databaseUrl,
        LOG_LEVEL: 'info',
        PORT: '0',
      };
    },
    replies: async () => (await slack.ask()) as Replies,
    [Symbol.asyncDispose]: async () => {
      await slack[Symbol.asyncDispose]();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An API key in its place, and a viewer who may use it and has used these servers. */
async function fillStore(databaseUrl: string, apiKey: string, used: readonly number[]): Promise<void> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem });
  const now = realSystem.now();
  await store.apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, now);
  await store.grants.put({
    workspaceId: TEAM.id,
    subjectKind: 'user',
    subjectId: USERS.vera.id,
    role: 'viewer',
    pattern: '',
    grantedBy: USERS.olga.id,
    grantedAt: now,
  });
  for (const [at, serverId] of used.entries())
    await store.audit.add({
      workspaceId: TEAM.id,
      actorId: USERS.vera.id,
      at: now,
      actId: `act-${at}`,
      surface: 'command',
      action: 'reboot',
      outcome: 'done',
      serverId,
    });
  await store.close();
}
