import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { entry, newGrant } from '../db/fixtures.ts';
import { BOT_TOKEN, ENCRYPTION_KEY, SIGNING_SECRET } from '../support/environment.ts';
import { withStore } from '../support/killable-team.ts';
import { ROOT, start } from './processes.ts';

/** As many as a team may well have: they make the message that every reply posts. */
const SERVERS = 20;

/** Starts what surrounds the app: the hosting service in this process, Slack in another, a folder for the data; an account with servers, and a Slack that takes every reply. */
export async function openSetting({
  servers = SERVERS,
  acts = 0,
  postgres,
}: {
  readonly servers?: number;
  readonly acts?: number;
  /** The server to make the databases on; absent for SQLite. */
  readonly postgres?: string | undefined;
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-bench-'));
  const hosting = await startHosting();
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  const ids = hosting.seedServers(account, servers, 'web');
  const apiKey = hosting.createKey(account);
  let databases = 0;
  const made: string[] = [];
  const slack = await start(`${ROOT}test/bench/slack-stub.mjs`, {});
  return {
    /** Makes a database of its own for one app, and the environment to start it in: production's defaults, any free port. */
    makeEnvironment: async (): Promise<Readonly<Record<string, string>>> => {
      const databaseUrl =
        postgres === undefined
          ? `sqlite:${join(folder, `${++databases}.sqlite`)}`
          : await createDatabase(postgres, made);
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
    [Symbol.asyncDispose]: async () => {
      await slack[Symbol.asyncDispose]();
      await hosting.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      if (postgres !== undefined) await dropDatabases(postgres, made);
    },
  };
}

/** Makes an empty database of a name that is not in use. */
async function createDatabase(server: string, made: string[]): Promise<string> {
  const name = `vps_bench_${process.pid}_${made.length}`;
  made.push(name);
  await queryServer(server, [`create database "${name}" encoding 'UTF8' locale 'C' template template0`]);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function dropDatabases(server: string, names: readonly string[]): Promise<void> {
  return queryServer(
    server,
    names.map((name) => `drop database "${name}" with (force)`),
  );
}

async function queryServer(server: string, statements: readonly string[]): Promise<void> {
  const client = new Client(server);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
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
