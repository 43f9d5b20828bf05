import { randomBytes } from 'node:crypto';
import { compose, type RunningApp } from '../app.ts';
import { parseConfig } from '../config.ts';
import { Secret } from '../core/secret.ts';
import { createLog, LOG_LEVELS } from '../log.ts';
import { createIds, realSystem, type System } from '../system.ts';
import { postAlert } from './alert.ts';
import { withGallery } from './gallery/serve.ts';
import type { Account } from './hosting/accounts.ts';
import { HostingClock } from './hosting/clock.ts';
import { type Hosting, startHosting } from './hosting/start.ts';
import { createPages } from './page/serve.ts';
import { Panel, withPanel } from './panel/panel.ts';
import { sendText } from './slack/http.ts';
import { readOwnManifest, withSteps } from './slack/manifest.ts';
import { type Pages, type SlackServer, serveSlack } from './slack/server.ts';
import { type as typeIn } from './slack/user-actions/type.ts';
import { ROLE_HOLDERS, TEAM, USERS } from './slack/workspace.ts';
import type { World } from './slack/world.ts';

const FIRST_TOP_UP_MINOR = 100_00;

interface SandboxOptions {
  /** The page's; the app takes the next one, the hosting service the one after that. */
  readonly port: number;
  readonly logLevel: string;
  /** False: the user of the sandbox connects the hosting account. Default true. */
  readonly isConnected?: boolean;
  /** The app uses Socket Mode. Default false. */
  readonly isSocketMode?: boolean;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

type Ending = () => unknown;

/**
 * Starts everything on this machine: a local Slack with its page, the hosting service, and the app between them,
 * over real HTTP with real signatures. Three ports in a row, loopback only.
 * @throws Error with `code: 'EADDRINUSE'` when one of them is taken; what was started is closed then
 */
export async function startSandbox(options: SandboxOptions) {
  const endings: Ending[] = [];
  const close = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    const clock = new HostingClock();
    const opening = { options, clock, secrets: makeSecrets(), onClose: (end: Ending) => endings.push(end) };
    return { ...(await open(opening)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What every part of the sandbox needs to start. */
interface Opening {
  readonly options: SandboxOptions;
  readonly secrets: ReturnType<typeof makeSecrets>;
  /** The time of all three; the panel moves it. */
  readonly clock: HostingClock;
  /** Called in reverse order. */
  onClose(end: Ending): unknown;
}

function makeSecrets() {
  const signingSecret = randomBytes(16).toString('hex');
  return {
    signingSecret,
    botToken: `xoxb-${randomBytes(16).toString('hex')}`,
    appToken: `xapp-${signingSecret}`,
    encryptionKeys: `sandbox:${randomBytes(32).toString('base64')}`,
  };
}

async function open(opening: Opening) {
  let panel: Panel | undefined;
  const chat = await openChat(opening, () => panel);
  const { world, url } = chat.slack;
  const hosting = await startHosting({ port: opening.options.port + 2, clock: opening.clock });
  opening.onClose(() => hosting.close());
  const account = hosting.accounts.create({ name: 'Sandbox Ltd', balanceMinor: FIRST_TOP_UP_MINOR });
  const app = await openApp(opening, chat.slack, hosting, account);
  const opened = new Panel({
    ...{ hosting, account, slack: world.journal, store: app.ports },
    onChange: () => world.journal.emit({ type: 'panel' }),
    onStep: (step) => step === 'create' && raiseAlert(world, hosting, account),
  });
  opening.onClose(() => opened.close());
  await opened.check();
  panel = opened;
  await welcome(chat.slack, panel);
  await chat.pageIsReady;
  return { url, accountUrl: `${url}/account`, slack: chat.slack, hosting, account, app, panel };
}

/** The local Slack with its page; bundling the page is slow, so it runs in parallel to the rest. */
async function openChat(
  { options: { port, isSocketMode }, secrets, clock, onClose }: Opening,
  getPanel: () => Panel | undefined,
) {
  let page: Pages = (_incoming, outgoing) => sendText(outgoing, 503, 'the sandbox is starting');
  const pageIsReady = createPages().then((pages) => {
    page = withGallery(pages);
  });
  // It is awaited at the end; until then another part may have failed.
  pageIsReady.catch(() => undefined);
  const slack = await serveSlack({
    port,
    clock,
    pages: withPanel((incoming, outgoing) => page(incoming, outgoing), getPanel),
    app: {
      signingSecret: secrets.signingSecret,
      botToken: secrets.botToken,
      appToken: secrets.appToken,
      manifest: withSteps(readOwnManifest(isSocketMode ? 'socket' : 'http')),
      commandsUrl: `${appUrlOf(port)}/slack/events`,
      usageHint: 'help',
    },
  });
  onClose(() => slack.stop());
  return { slack, pageIsReady };
}

async function openApp(
  { options, secrets, clock, onClose }: Opening,
  slack: SlackServer,
  hosting: Hosting,
  account: Account,
): Promise<RunningApp> {
  const { port } = options;
  const config = parseConfig({
    HOSTING_BASE_URL: hosting.baseUrl,
    // Longer than the slowest response of the panel's faults.
    HOSTING_TIMEOUT_MS: '15000',
    HOSTING_CURRENCY: 'EUR',
    SLACK_SIGNING_SECRET: secrets.signingSecret,
    SLACK_APP_TOKEN: options.isSocketMode ? secrets.appToken : '',
    SLACK_BOT_TOKEN: secrets.botToken,
    SLACK_API_URL: `${slack.url}/api/`,
    PUBLIC_URL: appUrlOf(port),
    ENCRYPTION_KEYS: secrets.encryptionKeys,
    DATABASE_URL: 'sqlite::memory:',
    DOUBT_MINUTES: '2',
    PORT: String(port + 1),
  });
  const level = LOG_LEVELS.find((name) => name === options.logLevel) ?? 'warn';
  const app = await compose(config, createLog(level), systemOf(clock));
  onClose(() => app.close());
  await grantRoles(app);
  if (options.isConnected !== false) await connect(app, hosting, account);
  return app;
}

/** This machine's system, with the sandbox's time of day. What is waited for and measured takes as long as it takes. */
function systemOf(clock: HostingClock): System {
  const now = () => clock.now();
  return { ...realSystem, now, newId: createIds(now, realSystem.random) };
}

/** Grants the roles that the users start with, so that every role can be tried right away. */
async function grantRoles({ ports }: RunningApp): Promise<void> {
  for (const { id, role } of ROLE_HOLDERS) {
    await ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: id,
      role,
      pattern: '',
      grantedBy: USERS.olga.id,
      grantedAt: ports.system.now(),
    });
  }
}

async function connect({ ports }: RunningApp, hosting: Hosting, account: Account): Promise<void> {
  const key = new Secret(hosting.createKey(account));
  await ports.apiKeys.put(TEAM.id, key, USERS.olga.id, ports.system.now());
}

const LOOK_MS = 500;
/** By then, the app reads a list in which the server runs, and its card has the button. */
const LIST_IS_KEPT_MS = 3000;

/** Once the first server runs, an alert about it waits in #ops. */
function raiseAlert(world: World, hosting: Hosting, account: Account): void {
  const timer = setInterval(() => {
    const server = hosting.listServers(account).find(({ state }) => state === 'running');
    if (!server) return;
    clearInterval(timer);
    setTimeout(() => void postAlert(world, server.label), LIST_IS_KEPT_MS).unref();
  }, LOOK_MS).unref();
}

/** Posts Olga's message in #ops, which says how to start. */
async function welcome(slack: SlackServer, panel: Panel): Promise<void> {
  const { account } = await panel.state();
  const first =
    account.connection === 'none'
      ? 'To start:\n1. Press *Create an API key* in the tour (on a phone: tap *Tour*), and copy the key.\n2. Run `/vps connect`, open the link and paste the key.'
      : 'It’s connected to our hosting account. Try `/vps create`.';
  const words = `Hi! We now have an app for our servers; \`/vps help\` shows what it can do. ${first}`;
  await typeIn(slack.world, USERS.olga, '#ops', words);
}

const appUrlOf = (port: number) => `http://127.0.0.1:${port + 1}`;
