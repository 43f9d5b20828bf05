import { findConnectLink } from './account/connect.ts';
import { runBackground } from './background.ts';
import type { Config } from './config.ts';
import type { AppContext, Store } from './context.ts';
import { createEntry } from './core/entry.ts';
import { describeDefect } from './core/errors.ts';
import type { WorkspaceId } from './core/ids.ts';
import { createTurns, withTimeout } from './core/promises.ts';
import { listNamedOwners } from './core/roles.ts';
import { MINUTE_MS } from './core/time.ts';
import { createJobs, type Jobs } from './db/jobs.ts';
import { openStore } from './db/open-store.ts';
import { createVault, type Vault } from './db/vault.ts';
import { createLastLists } from './home/read-home.ts';
import { createHosting, type Hosting } from './hosting/client.ts';
import {
  createInstalledWorkspaces,
  type Installation,
  type InstallationPorts,
  install,
  noteRevocation,
  watchInstallation,
} from './installations/installations.ts';
import type { Log } from './log.ts';
import { SEND_WITHIN_MS } from './purchases/operation.ts';
import { startBolt, type Transport } from './slack/bolt.ts';
import { createHttpReceiver } from './slack/http-receiver.ts';
import { createSetupProblems, type SetupProblems } from './slack/refusals.ts';
import {
  createSlackClients,
  createSlackConnections,
  type SlackClock,
  type SlackConnections,
  type TokenSource,
} from './slack/slack-api.ts';
import { createSocketReceiver } from './slack/socket.ts';
import {
  createInstaller,
  createSingleWorkspace,
  createTokenService,
  type Installer,
  watchInstalled,
} from './slack/tokens.ts';
import { createSlack, type SlackOptions } from './slack-app.ts';
import { realSystem, type System } from './system.ts';
import { createMetrics, type Metrics } from './web/metrics.ts';
import { createWebServer, listen, watchRequests } from './web/server.ts';

export interface RunningApp {
  readonly port: number;
  readonly ports: AppContext;
  /** Lists what keeps the app from working, a sentence each; empty if it is ready. */
  faults(): Promise<readonly string[]>;
  /** Stops accepting requests, lets running work finish for the time of one hosting request plus 5 s, and closes everything. */
  close(): Promise<void>;
}

/** Time to store and report the last answer of the hosting API at a stop. */
const DRAIN_MARGIN_MS = 5000;
const ANSWERED_WITHIN_MS = 4000;

/** Money effect: continues confirmed orders. @throws DatabaseInUse, DatabaseUnusable, with a sentence for the operator; Error of `listen` */
export async function compose(config: Config, log: Log, base: System = realSystem): Promise<RunningApp> {
  const vault = createVault(config.ENCRYPTION_KEYS);
  const { DATABASE_URL: databaseUrl, SPILL_DIR: spillDir, MAX_PROCESSES: maxProcesses } = config;
  const store = await openStore({ databaseUrl, spillDir, maxProcesses, vault, system: base });
  for (const note of store.notes) log.warn(note);
  // With the clock and the IDs that all processes on the store share.
  const system: System = { ...base, ...store.clock };
  const stop = new AbortController();
  const metrics = createMetrics();
  const hosting = createHosting({
    baseUrl: config.HOSTING_BASE_URL,
    timeoutMs: config.HOSTING_TIMEOUT_MS,
    // This machine's own clocks: the shared one is extrapolated with the monotonic clock, which would hide a suspended machine.
    system: base,
    calls: store.apiCalls,
    namesOf: vault.namesOf,
    log: { warn: (fields, words) => log.warn(words, { ...fields }) },
    onCall: metrics.hostingCall,
  });
  const own = portsOf(config, hosting, store, log, system);
  const slack = openSlack(config, { ...store, ...own, vault, metrics }, stop.signal);
  const { source, explain } = slack;
  const { watchInstallation } = source;
  const audit = withCountedDenials(store.audit, metrics);
  const ports = { ...store, audit, ...slack.ports, ...own, installations: source, watchInstallation };
  const entry = createEntry(ports);
  const { clock } = slack.connections;
  const transport = openTransport(config, { system, log, clock, metrics }, stop.signal);
  const dispatch = slack.createDispatch(entry, ports);
  const bolt = await startBolt({ transport, slackApiUrl: config.SLACK_API_URL, dispatch, log });
  const faults = async () => {
    const storeFaults = await store.ping().then(
      () => [],
      () => ['the database does not answer'],
    );
    return [...source.faults(), ...transport.faults(), ...storeFaults];
  };
  metrics.onRead(async () => ({
    counts: await store.counts(),
    budget: hosting.budget(),
    isReady: (await faults()).length === 0,
    isConnected: transport.faults().length === 0,
    now: system.now(),
  }));
  const server = createWebServer({
    entry,
    explain,
    system,
    log,
    metrics,
    faults,
    warnings: () => [...store.notes, ...clock.warnings()],
    slack: transport.listener,
    installer: source.installer,
    findConnectLink: (token) => findConnectLink(token, ports),
    publicUrl: config.PUBLIC_URL,
    accountUrl: config.HOSTING_ACCOUNT_URL,
    metricsToken: config.METRICS_TOKEN,
  });
  const requests = watchRequests(server);
  /** Closes everything after a failed start, since an open server would keep the process alive. @throws the error */
  const giveUp = async (error: unknown): Promise<never> => {
    stop.abort();
    server.close();
    server.closeAllConnections();
    await store.close();
    throw error;
  };
  const port = await listen(server, config.PORT, config.HOST).catch(giveUp);
  // Listening comes first: until Slack has answered, /readyz says what is missing.
  await source.connect().catch(giveUp);
  await transport.start().catch(giveUp);
  const background = runBackground(ports, entry, stop.signal);
  // What a request begins may continue after its answer, and begin a follow-up in turn.
  const endRequests = () => bolt.drain().then(() => entry.drain());
  const endWork = () => Promise.all([hosting.close(), endRequests(), background]);
  // A slow page, such as one that is trying a key, must not use up the time that a paid request needs for its answer.
  const endAnswers = () =>
    withTimeout(Promise.all([requests.answered(), transport.close()]), system, ANSWERED_WITHIN_MS);
  const drain = () => endAnswers().then(endWork);
  const close = async () => {
    server.close();
    server.closeIdleConnections();
    stop.abort();
    await Promise.race([drain(), system.sleep(config.HOSTING_TIMEOUT_MS + DRAIN_MARGIN_MS)]);
    server.closeAllConnections();
    await slack.connections.close();
    await store.close();
  };
  return { port, ports, faults, close };
}

function openTransport(
  config: Config,
  { system, log, clock, metrics }: { system: System; log: Log; clock: SlackClock; metrics: Metrics },
  signal: AbortSignal,
): Transport {
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = config;
  const slackApiUrl = config.SLACK_API_URL;
  if (appToken)
    return createSocketReceiver({ appToken, slackApiUrl, log, system, signal, onAck: metrics.slackAck });
  if (signingSecret) return createHttpReceiver({ signingSecret, log, clock });
  throw new Error('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');
}

function portsOf(config: Config, hosting: Hosting, store: Store, log: Log, system: System) {
  return {
    system,
    log,
    takeTurn: createTurns(system, SEND_WITHIN_MS),
    jobs: createJobs(store.jobStore, system, log),
    hostingOf: hosting.of,
    lastLists: createLastLists(),
    ownersOf: (workspaceId: WorkspaceId) => listNamedOwners(config.OWNERS, workspaceId),
    settings: {
      unconfirmedMs: config.DOUBT_MINUTES * MINUTE_MS,
      passwordHoldMs: config.PASSWORD_HOLD_MINUTES * MINUTE_MS,
      auditKeepDays: config.AUDIT_KEEP_DAYS,
    },
  };
}

/** Every denial is audited, so that counting entries counts all of them. */
function withCountedDenials(audit: Store['audit'], metrics: Metrics): Store['audit'] {
  return {
    ...audit,
    add: async (entry) => {
      await audit.add(entry);
      metrics.audited(entry);
    },
  };
}

interface SlackParts extends Store {
  readonly jobs: Jobs;
  readonly system: System;
  readonly log: Log;
  readonly vault: Vault;
  readonly metrics: Metrics;
}

interface Source extends TokenSource {
  readonly admit?: SlackOptions['admit'];
  readonly onRevocation?: SlackOptions['onRevocation'];
  /** Asks Slack what has to be known before requests are served. */
  connect(): Promise<void>;
  faults(): readonly string[];
  watch: NonNullable<Parameters<typeof createSlackClients>[2]>;
  readonly installer?: Installer | undefined;
  readonly watchInstallation?: ((id: string) => Promise<number | undefined>) | undefined;
}

function openSlack(config: Config, parts: SlackParts, signal: AbortSignal) {
  const { workspaces, system, log } = parts;
  const onAnswer = parts.metrics.slackCall;
  const connections = createSlackConnections({ apiUrl: config.SLACK_API_URL, log, system, onAnswer });
  const setupProblems = createSetupProblems(system);
  const { SLACK_BOT_TOKEN: botToken } = config;
  /** Sends the installer the next steps, unless a key is connected or a whole organization installed the app. */
  const greet = async ({ id, isOrg, installedBy }: Installation): Promise<void> => {
    if (isOrg || (await parts.apiKeys.listWorkspaces()).includes(id)) return;
    await slack.greetInstaller(id, installedBy);
  };
  const onInstall = (installation: Installation) =>
    void greet(installation).catch((error: unknown) =>
      log.error('the user who installed the app could not be greeted', describeDefect(error)),
    );
  const source: Source = botToken
    ? createSingleWorkspace({
        open: connections.open,
        storeWorkspace: workspaces.put,
        botToken,
        setupProblems,
        system,
        log,
        signal,
      })
    : openInstalledWorkspaces(config, parts, connections, setupProblems, onInstall);
  const { admit, onRevocation } = source;
  const slack = createSlack({
    ...parts,
    connections,
    setupProblems,
    admit,
    onRevocation,
    clients: createSlackClients(connections.open, source, source.watch),
    currency: config.HOSTING_CURRENCY,
    accountUrl: config.HOSTING_ACCOUNT_URL,
    publicUrl: config.PUBLIC_URL,
    slackApiUrl: config.SLACK_API_URL,
  });
  return { ...slack, connections, source };
}

/** Opens the workspaces that install the app. Calls nothing at the start: an unused workspace costs nothing. */
function openInstalledWorkspaces(
  config: Config,
  parts: SlackParts,
  connections: SlackConnections,
  setupProblems: SetupProblems,
  onInstall: (installation: Installation) => void,
): Source {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, PUBLIC_URL: publicUrl } = config;
  // Never true: `parseConfig` refuses it.
  if (!clientId || !clientSecret || !publicUrl) throw new Error('the settings for OAuth are incomplete');
  const client = { clientId, clientSecret };
  const ports: InstallationPorts = {
    ...parts,
    tokenService: createTokenService(connections, client, parts.system),
    allowedWorkspaces: config.ALLOWED_WORKSPACES,
  };
  const installed = createInstalledWorkspaces(ports);
  return {
    ...installed,
    watch: watchInstalled(installed, setupProblems, parts.log),
    connect: async () => undefined,
    faults: () => [],
    onRevocation: ({ ids, at }) => noteRevocation(ids, at, ports),
    watchInstallation: (id) => watchInstallation(id, ports),
    installer: createInstaller({
      ...client,
      apiUrl: config.SLACK_API_URL,
      publicUrl,
      vault: parts.vault,
      connections,
      install: async (installation) => {
        const outcome = await install(installation, ports);
        if (outcome.kind === 'installed') onInstall(outcome.installation);
        return outcome;
      },
      system: parts.system,
      log: parts.log,
    }),
  };
}
