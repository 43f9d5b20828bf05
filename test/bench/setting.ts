import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { entry, newGrant } from '../db/fixtures.ts';
import { BOT_TOKEN, ENCRYPTION_KEY, SIGNING_SECRET } from '../support/environment.ts';
import { withStore } from '../support/killable-team.ts';
import { queryDatabase } from '../support/query-database.ts';
import { ROOT, start } from './processes.ts';

/** As many as a team may well have: they make the message that every reply posts. */
const SERVERS = 20;

/**
 * Starts what surrounds the app: the hosting service in this process, Slack in another, a folder for the data; an account with
 * servers, and a Slack that takes every reply.
 */
export async function openSetting({
  servers = SERVERS,
  acts = 0,
  postgres,
}: {
  readonly servers?: number;
  /** How many of the servers the viewer has rebooted. */
  readonly acts?: number;
  /** The server to make the database on; absent for SQLite. */
  readonly postgres?: string | undefined;
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-bench-'));
  const hosting = await startHosting();
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  const ids = hosting.seedServers(account, servers, 'web');
  const apiKey = hosting.createKey(account);
  const slack = await start(`${ROOT}test/bench/slack-stub.mjs`, {});
  const database = `vps_bench_${process.pid}`;
  const databaseUrl =
    postgres === undefined
      ? `sqlite:${join(folder, 'vps.sqlite')}`
      : await createDatabase(postgres, database);
  await fillStore(databaseUrl, apiKey, ids.slice(0, acts));
  /** Production's defaults, any free port. */
  const environment = {
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
  return {
    environment,
    /** Starts the built app, or one more process of it. */
    startApp: () => start(`${ROOT}dist/main.js`, environment),
    [Symbol.asyncDispose]: async () => {
      await slack[Symbol.asyncDispose]();
      await hosting.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      if (postgres !== undefined) await queryDatabase(postgres, `drop database "${database}" with (force)`);
    },
  };
}

async function createDatabase(server: string, name: string): Promise<string> {
  await queryDatabase(server, `create database "${name}" encoding 'UTF8' locale 'C' template template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** An API key in its place, and a viewer who may use it and has used these servers. */
function fillStore(databaseUrl: string, apiKey: string, used: readonly number[]): Promise<void> {
  const now = realSystem.now();
  const act = { workspaceId: TEAM.id, actorId: USERS.vera.id, at: now, action: 'reboot' } as const;
  const fill = async ({ apiKeys, grants, audit }: Store) => {
    await apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, now);
    await grants.put(newGrant({ workspaceId: TEAM.id, subjectId: USERS.vera.id }));
    for (const [at, serverId] of used.entries())
      await audit.add(entry({ ...act, actId: `act-${at}`, serverId }));
  };
  return withStore({ DATABASE_URL: databaseUrl }, fill, { lock: true });
}
