import { createEntry } from './app/authorize/use-case.ts';
import { runBackground } from './app/background.ts';
import { createMutex } from './app/mutex.ts';
import type { Services } from './app/services.ts';
import type { Config } from './config.ts';
import { createHosting } from './hosting/client.ts';
import type { Log } from './log.ts';
import { commands } from './slack/commands.ts';
import { createChannels } from './slack/directory/channels.ts';
import { createGroups } from './slack/directory/groups.ts';
import { createUsers } from './slack/directory/users.ts';
import { createSlackDoor } from './slack/transport/bolt.ts';
import { createDispatch } from './slack/transport/dispatch.ts';
import { explain } from './slack/transport/explain-error.ts';
import { introduce } from './slack/transport/introduce.ts';
import { createNotifier, createOpenViews } from './slack/transport/notifier.ts';
import type { Workbench } from './slack/transport/request.ts';
import { createSlackApi } from './slack/transport/slack-api.ts';
import { openStore } from './store/open-store.ts';
import { realSystem, type System } from './system.ts';
import { createVault, parseKeyring } from './vault.ts';
import { createMetrics } from './web/metrics.ts';
import { createWebServer, listen } from './web/server.ts';

export interface RunningApp {
  readonly port: number;
  readonly services: Services;
  /** Stops taking requests, lets what was begun end, up to the deadline, and closes everything. */
  close(): Promise<void>;
}

/** How long a stop waits for what was begun: one request to the hosting API, and a little. */
const DRAIN_MS = 35_000;

/**
 * Puts the app together and starts it.
 * @throws DatabaseInUse, DatabaseUnusable, VaultError: each with a sentence for the operator
 */
export async function compose(config: Config, log: Log, system: System = realSystem): Promise<RunningApp> {
  const vault = createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal()));
  const store = await openStore({ databaseUrl: config.DATABASE_URL, vault, system });
  const metrics = createMetrics();
  const hosting = createHosting({
    baseUrl: config.HOSTING_BASE_URL,
    timeoutMs: config.HOSTING_TIMEOUT_MS,
    system,
    calls: store.apiCalls,
    log: { warn: (fields, words) => log.warn(words, { ...fields }) },
    onCall: metrics.hostingCall,
  });
  const slack = createSlackApi({ apiUrl: config.SLACK_API_URL, botToken: config.SLACK_BOT_TOKEN, log });
  const services: Services = {
    system,
    log,
    store,
    users: createUsers(slack, system),
    groups: createGroups(slack, system),
    channels: createChannels(slack, system),
    notifier: createNotifier(() => bench),
    mutex: createMutex(),
    hostingOf: (key) => hosting.of(key),
    settings: {
      owners: config.OWNERS,
      doubtMs: config.DOUBT_MINUTES * 60_000,
      passwordHoldMs: config.PASSWORD_HOLD_MINUTES * 60_000,
      auditKeepDays: config.AUDIT_KEEP_DAYS,
    },
  };
  const entry = createEntry(services);
  const bench: Workbench = {
    services,
    entry,
    slack,
    currency: config.HOSTING_CURRENCY,
    publicUrl: config.PUBLIC_URL,
    openViews: createOpenViews(),
  };
  metrics.onRead(async () => ({
    openOperations: await store.ledger.countOpen(),
    undeliveredPasswords: await store.passwords.countUndelivered(),
  }));

  const stop = new AbortController();
  const introduction = introduce(slack, services, stop.signal);
  const slackDoor = await createSlackDoor({
    signingSecret: config.SLACK_SIGNING_SECRET,
    botToken: config.SLACK_BOT_TOKEN,
    slackApiUrl: config.SLACK_API_URL,
    dispatch: createDispatch(commands, bench, config.SLACK_API_URL),
    log,
  });
  const server = createWebServer({
    services,
    entry,
    explain: (error) => explain(error, bench),
    metrics,
    slack: slackDoor.listener,
    faults: async () => [...introduction.faults(), ...(await findStoreFaults(services))],
  });
  const port = await listen(server, config.PORT, config.HOST).catch(async (error: unknown) => {
    stop.abort();
    await store.close();
    throw error;
  });
  // Listening comes first: whoever asks /readyz meanwhile hears what is still missing.
  await introduction.firstTry;
  const background = runBackground(services, entry, stop.signal);
  return {
    port,
    services,
    close: async () => {
      server.close();
      server.closeIdleConnections();
      stop.abort();
      const ended = hosting.close();
      const drained = Promise.all([ended, slackDoor.drain(), background]);
      await Promise.race([drained, system.sleep(DRAIN_MS)]);
      server.closeAllConnections();
      await slack.close();
      await store.close();
    },
  };
}

async function findStoreFaults({ store }: Services): Promise<readonly string[]> {
  return store.ping().then(
    () => [],
    () => ['the database does not answer'],
  );
}
