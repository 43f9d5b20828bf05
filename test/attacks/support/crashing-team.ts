import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../../src/db/vault.ts';
import type { Operation } from '../../../src/purchases/operation.ts';
import { APPROVALS, type Approval } from '../../../src/requests/request.ts';
import { startHosting } from '../../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import type { DeleteOperation } from '../../../src/servers/deletion.ts';
import { realSystem } from '../../../src/system.ts';
import { type AppProcess, startProcess } from '../../support/killable-team.ts';
import { lendDatabase } from '../../support/postgres.ts';
import { TWO_PERSONS } from '../../support/ruled-team.ts';
import { startSlack } from '../../support/slack/local-slack.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp } from '../../support/team.ts';

const COUNTING = [
  process.execPath,
  '--import',
  './dist/bundled/crash-at.js',
  'dist/bundled/main.js',
] as const;

export type CrashingTeam = Awaited<ReturnType<typeof startCrashingTeam>>;

/** What is stored of all confirmations. */
export interface Stored {
  readonly operations: readonly Operation[];
  readonly deletes: readonly DeleteOperation[];
  readonly approvals: readonly Approval[];
  /** The root passwords that are held, by the ID of their server. */
  readonly passwords: ReadonlyMap<number, string>;
}

/** `TEST_ENGINE=postgres` lets all crash points be tried on PostgreSQL. */
const isPostgres = process.env.TEST_ENGINE === 'postgres';

/** A team whose app is a process of its own, which ends as by `kill -9` at a point that it counts; 0: it lives. */
export async function startCrashingTeam(crashAt: number, { isRuled = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0 });
  const slack = await startSlack({
    app: installedApp(),
  });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, 1, 'old');
  const lent = isPostgres ? await lendDatabase() : undefined;
  const database = lent && { DATABASE_URL: lent.url, SPILL_DIR: join(folder, 'answers') };
  const environment = environmentOf(slack, hosting, folder, { DOUBT_MINUTES: '1', ...database });
  const databaseUrl = environment.DATABASE_URL ?? '';
  await withStore(databaseUrl, true, (store) => prepare(store, hosting.createKey(account), isRuled));
  const crashPoints = join(folder, 'crash-points');
  let app: AppProcess | undefined;
  const run = async (more: Readonly<Record<string, string>>, program?: typeof COUNTING) => {
    app = await startProcess({ ...environment, ...more }, program && [...program]);
    slack.app.commandsUrl = `${app.url}/slack/events`;
    return app;
  };
  await run({ CRASH_AT: String(crashAt), CRASH_POINTS: crashPoints }, COUNTING);
  return {
    hosting,
    slack,
    manager: slack.as('mara').in('#ops'),
    owner: slack.as('olga').in('dm'),
    /** Everyone who must never see a root password of @mara's. */
    others: [slack.as('olga').in('dm'), slack.as('olga').in('#ops'), slack.as('nora').in('#ops')],
    startCounting: async () => {
      process.kill(app?.pid ?? 0, 'SIGUSR2');
      while (!app?.output().includes('counting crash points')) await sleep(5);
    },
    /** The points that were passed, the last one being where it crashed. */
    points: async () => (await readFile(crashPoints, 'utf8').catch(() => '')).split('\n').filter(Boolean),
    hasEnded: () => app?.hasEnded() ?? true,
    restart: async () => {
      // Leases of a dead process end by time there, after half a minute. The soak waits for that.
      await lent?.query('update jobs set lease_until = 0 where lease_until > 0; update locks set until = 0');
      return run({});
    },
    read: () => withStore(databaseUrl, false, (store) => readStored(store, databaseUrl)),
    charges: () => hosting.charges(account).length,
    servers: () => hosting.listServers(account),
    [Symbol.asyncDispose]: async () => {
      await app?.kill();
      await slack.stop();
      await hosting.close();
      await lent?.giveBack();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** With `lock: false` it is read beside the process that works on it. */
async function withStore<Result>(
  databaseUrl: string,
  lock: boolean,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem, lock });
  return work(store).finally(() => store.close());
}

async function prepare(store: Store, key: string, isRuled: boolean): Promise<void> {
  const at = realSystem.now();
  await store.apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, at);
  await store.workspaces.put({ id: TEAM.id, name: TEAM.name }, at);
  if (isRuled) await store.workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, TWO_PERSONS);
  const subject = { subjectKind: 'user', subjectId: USERS.mara.id } as const;
  const grant = { role: 'manager', pattern: '', grantedBy: USERS.olga.id, grantedAt: at } as const;
  await store.grants.put({ workspaceId: TEAM.id, ...subject, ...grant });
}

async function readStored(store: Store, databaseUrl: string): Promise<Stored> {
  const { operationIds, approvalIds } = await readIds(databaseUrl);
  const found = <One>(all: readonly (One | undefined)[]) => all.filter((one) => one !== undefined);
  const operations = found(await Promise.all(operationIds.map((id) => store.ledger.find(id))));
  const approvals = found(await Promise.all(approvalIds.map((id) => store.requests.find(id, APPROVALS))));
  const deletes = found(await Promise.all(operationIds.map((id) => store.ledger.findDelete(id))));
  const held = found(await Promise.all(operationIds.map((id) => store.passwords.find(id))));
  const passwords = new Map(held.map(({ serverId, password }) => [serverId, password.reveal()]));
  return { operations, deletes, approvals, passwords };
}

async function readIds(databaseUrl: string) {
  const query = isPostgres ? await connect(databaseUrl) : openFile(databaseUrl.slice('sqlite:'.length));
  const idsOf = async (table: string) =>
    (await query.all(`select id from ${table}`)).map(({ id }) => String(id));
  try {
    return { operationIds: await idsOf('operations'), approvalIds: await idsOf('requests') };
  } finally {
    await query.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

function openFile(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  return {
    all: async (sql: string): Promise<readonly Row[]> => db.prepare(sql).all() as Row[],
    close: async () => db.close(),
  };
}

async function connect(url: string) {
  const client = new Client(url);
  await client.connect();
  return {
    all: async (sql: string): Promise<readonly Row[]> => (await client.query<Row>(sql)).rows,
    close: () => client.end(),
  };
}
