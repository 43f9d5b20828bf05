import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewGrant } from '../../src/access/grants.ts';
import { compose, type RunningApp } from '../../src/app.ts';
import { type Config, parseConfig } from '../../src/config.ts';
import { Secret } from '../../src/core/secret.ts';
import { createLog, type Log } from '../../src/log.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { ROLE_HOLDERS, TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import type { SlackOptions } from '../../src/sandbox/slack/world.ts';
import { realSystem, type System } from '../../src/system.ts';
import { environmentOf, installedApp, SCOPES, SLACK_MODE, type SlackMode } from './environment.ts';
import { type Exemptions, failOn, watchTeam } from './invariants.ts';
import { startSlack } from './slack/local-slack.ts';

export * from './environment.ts';

type HostingOptions = NonNullable<Parameters<typeof startHosting>[0]>;

export interface TeamOptions {
  /** Default: SQLite, or what `TEST_ENGINE` names; a clock that a test moves can't move PostgreSQL's. */
  readonly engine?: 'sqlite' | 'postgres';
  /** Default: `SLACK_MODE`. */
  readonly mode?: SlackMode;
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings that the environment can't be given, such as a doubt of seconds. */
  readonly config?: Partial<Config>;
  readonly hosting?: HostingOptions;
  readonly scopes?: readonly string[];
  /** How the app stands in Slack, where that is not an installed app with one token. */
  readonly slackApp?: Partial<SlackOptions['app']>;
  /** Slack's tiers, and one message a second in each channel; default true. Hundreds of acts in a minute do without, and say so. */
  readonly hasRateLimits?: boolean;
  /** Slack's clock; default the wall clock. */
  readonly clock?: SlackOptions['clock'];
  readonly log?: Log;
  readonly system?: System;
  /** How many servers there are, `web-1` and so on. */
  readonly servers?: number;
  /** Balance in hundredths; 0 leaves the API closed. */
  readonly balanceMinor?: number;
  /** False: the test itself runs `/vps connect`. */
  readonly isConnected?: boolean;
  /** Grants viewer, operator and manager to @vera, @otto and @mara. Default true. */
  readonly hasRoles?: boolean;
  /** What is not checked at the end, since the test breaks it on purpose. */
  readonly exempt?: Exemptions;
}

export type Team = Awaited<ReturnType<typeof startTeam>>;

/** Starts a team that is ready to use, in one process: hosting service, local Slack, and the app between them, over real HTTP. */
export async function startTeam(options: TeamOptions = {}) {
  const system = options.system ?? realSystem;
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0, rebootDelayMs: 0, ...options.hosting });
  const mode = options.mode ?? SLACK_MODE;
  const slack = await startSlack({
    hasRateLimits: options.hasRateLimits ?? true,
    ...(options.clock ? { clock: options.clock } : {}),
    app: { ...installedApp(mode), scopes: options.scopes ?? SCOPES, ...options.slackApp },
  });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: options.balanceMinor ?? 100_000 });
  const serverIds = hosting.seedServers(account, options.servers ?? 0, 'web');
  const apiKey = hosting.createKey(account, { beforeTopUp: true });
  const database = await lendTeamDatabase(options, folder);
  const environment = environmentOf(slack, hosting, folder, { ...database.settings, ...options.settings });
  const watch = watchTeam({ slack, hosting, environment, folder, secrets: { 'the API key': apiKey } });
  const log = watch.listenTo(options.log ?? createLog('silent'));
  const start = async (): Promise<RunningApp> => {
    const app = await compose({ ...parseConfig(environment), ...options.config }, log, system);
    slack.app.commandsUrl = `http://127.0.0.1:${app.port}/slack/events`;
    return app;
  };
  let app = await start();
  if (options.isConnected !== false) {
    await app.ports.apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, system.now());
  }
  if (options.hasRoles !== false)
    for (const { id, role } of ROLE_HOLDERS) await grantRole({ app }, id, role, { grantedAt: system.now() });
  return {
    slack,
    /** @vera, @otto, @mara and @olga, in #ops. */
    viewer: slack.as('vera'),
    operator: slack.as('otto'),
    manager: slack.as('mara'),
    owner: slack.as('olga'),
    hosting,
    account,
    /** Of the servers that it started with. */
    serverIds,
    apiKey,
    environment,
    /** Judges the team by the invariants when it closes. */
    watch,
    get app() {
      return app;
    },
    get appUrl() {
      return `http://127.0.0.1:${app.port}`;
    },
    /** Stops the app and starts it again, on the same files or on what this has made of them in between. */
    restart: async (between?: () => Promise<void>) => {
      await app.close();
      await between?.();
      app = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await app.close();
      const violations = await watch.judge(options.exempt);
      await slack.stop();
      await hosting.close();
      await database.giveBack();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      failOn(violations);
    },
  };
}

/** Most stories of a team can be told on PostgreSQL: `TEST_ENGINE=postgres npx vitest run test/whole`. */
async function lendTeamDatabase({ settings, system, ...options }: TeamOptions, folder: string) {
  const { engine = system ? 'sqlite' : DEFAULT_ENGINE } = options;
  if (engine === 'sqlite' || settings?.DATABASE_URL !== undefined)
    return { settings: {}, giveBack: async () => undefined };
  // Only under vitest: a program can start a team on SQLite.
  const { lendDatabase } = await import('./postgres.ts');
  const { url, giveBack } = await lendDatabase();
  return { settings: { DATABASE_URL: url, SPILL_DIR: join(folder, 'answers') }, giveBack };
}

const DEFAULT_ENGINE = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite';

/** Grants a role for all servers to a user, unless `more` says otherwise. */
export async function grantRole(
  { app }: { readonly app: RunningApp },
  subjectId: string,
  role: NewGrant['role'],
  more: Partial<NewGrant> = {},
): Promise<void> {
  const given = { workspaceId: TEAM.id, pattern: '', grantedBy: USERS.olga.id, grantedAt: 0 };
  await app.ports.grants.put({ ...given, subjectKind: 'user', subjectId, role, ...more });
}
