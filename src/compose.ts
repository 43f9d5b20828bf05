import type { Server } from 'node:http';
import { findConnectLink } from './app/account/connect-link.ts';
import { createAccountRecognition } from './app/account/recognize-account.ts';
import { createEntry } from './app/authorize/entry.ts';
import { runBackground } from './app/background.ts';
import { createLastLists } from './app/home/last-servers.ts';
import { createLocks } from './app/locks.ts';
import type { AppContext, Store } from './app/ports.ts';
import { createDigestEdits } from './app/reminders/refresh-digest.ts';
import { openSlack } from './compose-slack.ts';
import type { Config } from './config.ts';
import type { WorkspaceId } from './domain/ids.ts';
import { listNamedOwners } from './domain/named-owners.ts';
import { MINUTE_MS } from './domain/time.ts';
import { createHosting, type Hosting } from './hosting/client.ts';
import type { Log } from './log.ts';
import { startBolt, type Transport } from './slack/transport/bolt.ts';
import { createHttpReceiver } from './slack/transport/http-receiver.ts';
import type { SlackClock } from './slack/transport/slack-clock.ts';
import { createSocketReceiver } from './slack/transport/socket-receiver.ts';
import { openStore } from './store/open-store.ts';
import { realSystem, type System } from './system.ts';
import { createVault, parseKeyring, type Vault } from './vault.ts';
import { createMetrics, type Metrics } from './web/metrics.ts';
import { watchRequests } from './web/open-requests.ts';
import { createWebServer, listen, type WebParts } from './web/server.ts';

export interface RunningApp {
  readonly port: number;
  readonly ports: AppContext;
  /** What prevents the app from working, one sentence each; empty when it is ready. */
  faults(): Promise<readonly string[]>;
  /** Stops accepting requests, lets running work finish until the deadline, and closes everything. */
  close(): Promise<void>;
}

/** A stop leaves running work the time of one request to the hosting API, plus this to store and report its answer. */
const DRAIN_MARGIN_MS = 5000;

/**
 * Puts the app together and starts it.
 * @throws DatabaseInUse, DatabaseUnusable, VaultError: each with a sentence for the operator
 */
export async function compose(config: Config, log: Log, base: System = realSystem): Promise<RunningApp> {
  const vault = createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal()));
  const { store, system } = await openConfiguredStore(config, vault, log, base);
  const stop = new AbortController();
  const metrics = createCounting(store);
  const { hosting, accountRecognition } = openHosting(config, store, metrics, log, base);
  const own = { ...portsOf(config, hosting, store, log, system), accountRecognition };
  const slack = openSlack(config, { ...store, ...own, vault }, stop.signal);
  const { source } = slack;
  const { watchTokens } = source;
  const told = { ...store, ...slack.ports, ...own, installations: source, watchTokens };
  const digestEdits = createDigestEdits(told);
  const ports = { ...told, ...digestEdits.notifiers };
  const entry = createEntry(ports);
  const { clock } = slack.connections;
  const transport = openTransport(config, system, log, clock, stop.signal);
  const { receiver } = transport;
  const dispatch = slack.createDispatch(entry, ports);
  const bolt = await startBolt({ receiver, slackApiUrl: config.SLACK_API_URL, dispatch, system, log });
  const slackFaults = () => [...source.faults(), ...transport.faults()];
  const faults = async () => [...slackFaults(), ...(await findStoreFaults(store))];
  const { explain } = slack;
  const warnings = () => [...store.notes, ...clock.warnings()];
  const parts = { entry, explain, system, log, metrics, slack: transport.listener, faults, warnings };
  const server = openServer(config, ports, { ...parts, installer: source.installer });
  const requests = watchRequests(server);
  const giveUp = (error: unknown) => endFailedStart(error, server, stop, store);
  const port = await listen(server, config.PORT, config.HOST).catch(giveUp);
  // Listening comes first: until Slack has answered, /readyz says what is missing.
  await source.connect().catch(giveUp);
  await transport.start().catch(giveUp);
  const background = runBackground(ports, entry, stop.signal);
  // What a request begins may go on after its answer, and begin a follow-up in turn.
  const endRequests = () => bolt.drain().then(() => entry.drain());
  const endOrders = () => Promise.all([endRequests(), background]).then(() => digestEdits.drain());
  const endWork = () => Promise.all([hosting.close(), endOrders()]);
  const drain = () => Promise.all([requests.answered(), transport.close()]).then(endWork);
  const closeAll = () => slack.connections.close().then(() => store.close());
  return { port, ports, faults, close: () => closeApp({ server, stop, drain, closeAll, config, system }) };
}

/** What still listens would keep the process alive. */
async function endFailedStart(
  error: unknown,
  server: Server,
  stop: AbortController,
  store: Store,
): Promise<never> {
  stop.abort();
  server.close();
  server.closeAllConnections();
  await store.close();
  throw error;
}

/** Slack's requests come over WebSockets if there is an app-level token, and otherwise over HTTP to our own server. */
function openTransport(
  config: Config,
  system: System,
  log: Log,
  clock: SlackClock,
  signal: AbortSignal,
): Transport {
  const {
    SLACK_APP_TOKEN: appToken,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: slackApiUrl,
  } = config;
  if (appToken) return createSocketReceiver({ appToken, slackApiUrl, log, system, signal });
  if (signingSecret) return createHttpReceiver({ signingSecret, log, clock });
  throw new Error('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');
}

type OwnWebParts = 'findConnectLink' | 'publicUrl' | 'metricsToken';

function openServer(config: Config, ports: AppContext, parts: Omit<WebParts, OwnWebParts>) {
  const { PUBLIC_URL: publicUrl, METRICS_TOKEN: metricsToken } = config;
  const find: WebParts['findConnectLink'] = (token) => findConnectLink(token, ports);
  return createWebServer({ ...parts, findConnectLink: find, publicUrl, metricsToken });
}

/** The store, and the system with the clock of all processes that share the store. */
async function openConfiguredStore(config: Config, vault: Vault, log: Log, base: System) {
  const { DATABASE_URL: databaseUrl, SPILL_DIR: spillDir, MAX_PROCESSES: maxProcesses } = config;
  const store = await openStore({ databaseUrl, spillDir, maxProcesses, vault, system: base });
  for (const note of store.notes) log.warn(note);
  const system: System = { ...base, ...store.clock };
  return { store, system };
}

/** Uses this machine's own clocks: the database's time is extrapolated with the monotonic one, so it would hide that the machine was suspended. */
function openHosting(config: Config, store: Store, metrics: Metrics, log: Log, system: System) {
  const { accounts, apiKeys } = store;
  const hosting = createHosting({
    baseUrl: config.HOSTING_BASE_URL,
    timeoutMs: config.HOSTING_TIMEOUT_MS,
    system,
    calls: store.apiCalls,
    accounts,
    onServers: (api, servers) => accountRecognition.notice(api, servers),
    log: { warn: (fields, words) => log.warn(words, { ...fields }) },
    onCall: metrics.hostingCall,
  });
  const accountRecognition = createAccountRecognition({
    system,
    log,
    accounts,
    apiKeys,
    hostingOf: hosting.of,
  });
  return { hosting, accountRecognition };
}

function portsOf(config: Config, hosting: Hosting, store: Store, log: Log, system: System) {
  return {
    system,
    log,
    locks: createLocks({ leases: store.lockLeases, system, log }),
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

function createCounting(store: Store): Metrics {
  const metrics = createMetrics();
  metrics.onRead(async () => ({
    openOperations: await store.ledger.countOpen(),
    undeliveredPasswords: await store.passwords.countUndelivered(),
  }));
  return metrics;
}

async function closeApp(running: {
  readonly server: Server;
  readonly stop: AbortController;
  readonly drain: () => Promise<unknown>;
  readonly closeAll: () => Promise<void>;
  readonly config: Config;
  readonly system: System;
}): Promise<void> {
  const { server, config } = running;
  const drainMs = config.HOSTING_TIMEOUT_MS + DRAIN_MARGIN_MS;
  server.close();
  server.closeIdleConnections();
  running.stop.abort();
  await Promise.race([running.drain(), running.system.sleep(drainMs)]);
  server.closeAllConnections();
  await running.closeAll();
}

async function findStoreFaults(store: Store): Promise<readonly string[]> {
  return store.ping().then(
    () => [],
    () => ['the database does not answer'],
  );
}
