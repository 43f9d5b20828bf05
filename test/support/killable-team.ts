import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import type { SlackOptions } from '../../src/sandbox/slack/world.ts';
import { realSystem } from '../../src/system.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp, SLACK_MODE, type SlackMode } from './environment.ts';
import { type Exemptions, failOn, watchTeam } from './invariants.ts';
import { readOutput } from './programs.ts';
import { type LocalSlack, startSlack } from './slack/local-slack.ts';

interface KillableOptions {
  /** How many servers there are, `web-1` and so on. */
  readonly servers: number;
  readonly rebootDelayMs?: number;
  /** Default: SQLite, which takes one process at a time. */
  readonly databaseUrl?: string | undefined;
  readonly mode?: SlackMode;
  readonly hasRateLimits?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  readonly slackApp?: Partial<SlackOptions['app']>;
  /** Default: the workspace has its API key. */
  readonly isConnected?: boolean;
  /** Stores what else is there before a process starts. */
  readonly prepare?: (store: Store, team: { readonly slack: LocalSlack }) => Promise<void>;
  /** What is not checked at the end, since the test breaks it on purpose. */
  readonly exempt?: Exemptions;
}

/** Starts a connected team with an owner, and as many processes of the app as a test starts and kills. */
export async function startKillableTeam({
  servers,
  rebootDelayMs = 0,
  databaseUrl,
  mode = SLACK_MODE,
  hasRateLimits = true,
  settings,
  slackApp,
  isConnected = true,
  prepare,
  exempt,
}: KillableOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0, rebootDelayMs });
  const slack = await startSlack({ app: { ...installedApp(mode), ...slackApp }, hasRateLimits });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, servers, 'web');
  const shared =
    databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, SPILL_DIR: join(folder, 'answers') };
  const environment = environmentOf(slack, hosting, folder, { ...shared, ...settings });
  const apiKey = hosting.createKey(account, { beforeTopUp: true });
  const fill = async (store: Store) => {
    if (isConnected) await store.apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, 0);
    await prepare?.(store, { slack });
  };
  await withStore(environment, fill, { lock: true });
  const processes: AppProcess[] = [];
  const output = () => processes.map((app) => app.output()).join('\n');
  const watch = watchTeam({
    slack,
    hosting,
    environment,
    folder,
    secrets: { 'the API key': apiKey },
    output,
  });
  const sendCommandsTo = ({ url }: AppProcess) => {
    slack.app.commandsUrl = `${url}/slack/events`;
  };
  const start = async (more?: Readonly<Record<string, string>>, program?: Program) => {
    const app = await startProcess({ ...environment, ...more }, program);
    processes.push(app);
    sendCommandsTo(app);
    return app;
  };
  return {
    slack,
    hosting,
    account,
    apiKey,
    environment,
    owner: slack.as('olga'),
    /** Over HTTP, Slack sends everything to this process from now on. */
    sendCommandsTo,
    /** Starts another process, with these settings besides, which gets the commands from then on. */
    start,
    /** Starts one that ends as by `kill -9` at a point that it counts, from when it is told to; 0: it lives. */
    startCrashing: async (crashAt: number) => {
      const path = join(folder, 'crash-points');
      const app = await start({ CRASH_AT: String(crashAt), CRASH_POINTS: path }, COUNTING);
      return {
        ...app,
        startCounting: async () => {
          process.kill(app.pid, 'SIGUSR2');
          while (!app.output().includes('counting crash points')) await sleep(5);
        },
        /** The points that were passed, the last one being where it crashed. */
        points: async () => (await readFile(path, 'utf8').catch(() => '')).split('\n').filter(Boolean),
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of processes) await each.kill();
      const violations = await watch.judge(exempt);
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      failOn(violations);
    },
  };
}

const COUNTING = [process.execPath, '--import', './dist/crash-at.js', 'dist/main.js'] as const;

/** Reads or writes the database of an app; with `lock`, before its first process starts, else beside its processes. */
export async function withStore<Result>(
  { DATABASE_URL: databaseUrl = '' }: Readonly<Record<string, string>>,
  work: (store: Store) => Promise<Result>,
  { lock = false } = {},
): Promise<Result> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem, lock });
  return work(store).finally(() => store.close());
}

/** The app as a process of its own, with the code that `npm start` runs: to be killed at the worst moment. */
export type AppProcess = Awaited<ReturnType<typeof startProcess>>;

/** A program with its first arguments. */
type Program = readonly [string, ...string[]];

/** Starts the built app (`build.ts`), or what starts it, and waits until it listens. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
  [program, ...args]: Program = [process.execPath, 'dist/main.js'],
) {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = readOutput(child);
  const ended = once(child, 'close').then(() => undefined);
  const port = await waitForPort(child, output);
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    /** All that it wrote so far. */
    output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Resolves when the process has ended and closed its output. */
    ended,
    /** `kill -9`: nothing is cleaned up. */
    kill: async () => {
      await end('SIGKILL');
    },
    /** SIGTERM; resolves with the exit code. */
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL');
    },
  };
}

/** Waits for the line that says that it listens. @throws Error when the process ends before */
export async function waitForPort(child: ChildProcess, output = readOutput(child)): Promise<number> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const port = /"port":(\d+)[^\n]*"msg":"(?:ready|started, but not ready)"/.exec(output())?.[1];
      if (!port) return;
      child.stdout?.off('data', look);
      resolve(Number(port));
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => reject(new Error(`the app ended with ${code}:\n${output()}`)));
  });
}
