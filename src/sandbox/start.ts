import { compose, type RunningApp } from '../app.ts';
import { commands } from '../commands.ts';
import { parseConfig } from '../config.ts';
import { Secret } from '../core/secret.ts';
import { createLog, LOG_LEVELS } from '../log.ts';
import { createIds, realSystem, type System } from '../system.ts';
import { postAlert } from './alert.ts';
import { createGallery, readSurfaces, withGallery } from './gallery/serve.ts';
import type { Account } from './hosting/accounts.ts';
import { HostingClock } from './hosting/clock.ts';
import { type Hosting, startHosting } from './hosting/start.ts';
import { createPages, type PageExtras } from './page/serve.ts';
import { type OpenPanel, openPanel, type Panel } from './panel/panel.ts';
import type { TourStep } from './panel/panel-api.ts';
import { withPanel } from './panel/routes.ts';
import { type Folder, type Prepared, prepare, type StoredState, saveIn } from './prepare.ts';
import { sendText } from './slack/http.ts';
import { readOwnManifest, withSteps } from './slack/manifest.ts';
import { type Pages, type SlackServer, serveSlack } from './slack/server.ts';
import { type as typeIn } from './slack/user-actions/type.ts';
import { ROLE_HOLDERS, TEAM, USERS } from './slack/workspace.ts';
import type { World } from './slack/world.ts';
import type { Tour } from './tour.ts';

const FIRST_TOP_UP_MINOR = 100_00;

interface SandboxOptions {
  /** The page's; the app takes the next one, the hosting service the one after that. */
  readonly port: number;
  readonly logLevel: string;
  /** Where the state is saved, ephemeral messages excepted; without it nothing is saved. */
  readonly folder?: string | undefined;
  /** False: the user of the sandbox connects the hosting account. Default true. */
  readonly isConnected?: boolean;
  /** The app uses Socket Mode. Default false. */
  readonly isSocketMode?: boolean;
}

export interface Sandbox {
  readonly url: string;
  readonly accountUrl: string;
  readonly slack: SlackServer;
  readonly hosting: Hosting;
  readonly account: Account;
  readonly app: RunningApp;
  readonly panel: Panel;
  close(): Promise<void>;
}

type Ending = () => unknown;

/**
 * Starts everything on this machine: a local Slack with its page, the hosting service, and the app between them,
 * over real HTTP with real signatures. Three ports in a row, loopback only.
 * @throws Error with `code: 'EADDRINUSE'` when one of them is taken; FolderRefusal. What was started is closed then
 */
export async function startSandbox(options: SandboxOptions, prepared?: Prepared): Promise<Sandbox> {
  const endings: Ending[] = [];
  const close = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    const { folder, stored } = prepared ?? (await prepare(options));
    if (folder) endings.push(() => folder.close());
    const clock = new HostingClock(Date.now, stored.hosting?.skippedMs);
    const opening = { options, folder, stored, clock, onClose: (end: Ending) => endings.push(end) };
    return { ...(await open(opening)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What every part of the sandbox needs to start. */
interface Opening {
  readonly options: SandboxOptions;
  readonly folder: Folder | undefined;
  readonly stored: StoredState;
  /** The time of all three; the panel moves it. */
  readonly clock: HostingClock;
  /** Called in reverse order. */
  onClose(end: Ending): unknown;
}

async function open(opening: Opening): Promise<Omit<Sandbox, 'close'>> {
  let panel: Panel | undefined;
  const chat = await openChat(opening, () => panel);
  const { hosting, account } = await openHosting(opening);
  const app = await openApp(opening, chat.slack, hosting, account);
  const { world } = chat.slack;
  const { journal } = world;
  const onChange = () => journal.emit({ type: 'panel' });
  const opened = await openSandboxPanel(opening, {
    ...{ hosting, account, slack: journal, store: app.ports, onChange },
  });
  panel = opened.panel;
  raiseAlert(opened.tour, { world, hosting, account });
  if (!opening.stored.slack) await welcome(chat.slack, panel);
  await chat.pageIsReady;
  const { url } = chat.slack;
  return { url, accountUrl: `${url}/account`, slack: chat.slack, hosting, account, app, panel };
}

/** The local Slack with its page; bundling the page is slow, so it runs in parallel to the rest. */
async function openChat(
  { options: { port, isSocketMode }, folder, stored, clock, onClose }: Opening,
  getPanel: () => Panel | undefined,
): Promise<{ slack: SlackServer; pageIsReady: Promise<unknown> }> {
  let page: Pages = (_incoming, outgoing) => sendText(outgoing, 503, 'the sandbox is starting');
  const pageIsReady = createPages(EXTRAS).then((pages) => {
    page = withGallery(pages, createGallery(readSurfaces));
  });
  // It is awaited at the end; until then another part may have failed.
  pageIsReady.catch(() => undefined);
  const slack = await serveSlack({
    port,
    clock,
    stored: stored.slack,
    pages: withPanel((incoming, outgoing) => page(incoming, outgoing), getPanel),
    app: {
      signingSecret: stored.secrets.signingSecret,
      botToken: stored.secrets.botToken,
      appToken: appTokenOf(stored),
      manifest: withSteps(readOwnManifest(isSocketMode ? 'socket' : 'http')),
      commandsUrl: `${appUrlOf(port)}/slack/events`,
      usageHint: 'help',
    },
  });
  const touch = saveIn(folder, 'slack.json', () => slack.snapshot(), onClose);
  onClose(() => slack.stop());
  slack.world.journal.onEvent(touch);
  return { slack, pageIsReady };
}

const EXTRAS: PageExtras = {
  links: [
    { text: 'Hosting account', href: '/account', hint: 'balance, keys, servers, faults, time' },
    { text: 'Workflows', href: '/workflows', hint: 'run the app’s step as Workflow Builder would' },
    { text: 'Gallery', href: '/gallery', hint: 'every message and modal of the app' },
  ],
  subcommands: commands.map(({ usage, summary }) => ({ usage, summary })),
};

async function openHosting({ options: { port }, folder, stored, clock, onClose }: Opening) {
  const hosting = await startHosting({ port: port + 2, clock, snapshot: stored.hosting });
  const touch = saveIn(folder, 'hosting.json', () => hosting.snapshot(), onClose);
  onClose(() => hosting.close());
  hosting.onChange(touch);
  hosting.onEvent(touch);
  const account =
    hosting.accounts.list()[0] ??
    hosting.accounts.create({ name: 'Sandbox Ltd', balanceMinor: FIRST_TOP_UP_MINOR });
  return { hosting, account };
}

async function openApp(
  { options, folder, stored, clock, onClose }: Opening,
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
    SLACK_SIGNING_SECRET: stored.secrets.signingSecret,
    SLACK_APP_TOKEN: options.isSocketMode ? appTokenOf(stored) : '',
    SLACK_BOT_TOKEN: stored.secrets.botToken,
    SLACK_API_URL: `${slack.url}/api/`,
    PUBLIC_URL: appUrlOf(port),
    ENCRYPTION_KEYS: stored.secrets.encryptionKeys,
    DATABASE_URL: `sqlite:${folder?.pathOf('vps.sqlite') ?? ':memory:'}`,
    DOUBT_MINUTES: '2',
    PORT: String(port + 1),
  });
  const level = LOG_LEVELS.find((name) => name === options.logLevel) ?? 'warn';
  const app = await compose(config, createLog(level), systemOf(clock));
  onClose(() => app.close());
  if (stored.isNew) await grantRoles(app);
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

/** Gives the app an API key, unless it has one. */
async function connect({ ports }: RunningApp, hosting: Hosting, account: Account): Promise<void> {
  if ((await ports.apiKeys.listWorkspaces()).includes(TEAM.id)) return;
  const key = new Secret(hosting.createKey(account));
  await ports.apiKeys.put(TEAM.id, key, USERS.olga.id, ports.system.now());
}

async function openSandboxPanel(
  { folder, stored, onClose }: Opening,
  parts: Parameters<typeof openPanel>[0],
): Promise<Pick<OpenPanel, 'panel' | 'tour'>> {
  const { panel, tour, close } = await openPanel({ ...parts, done: stored.tour });
  const touch = saveIn(folder, 'tour.json', () => tour.snapshot(), onClose);
  onClose(close);
  tour.onStep(touch);
  return { panel, tour };
}

interface AlertParts {
  readonly world: World;
  readonly hosting: Hosting;
  readonly account: Account;
}

const LOOK_MS = 500;
/** By then, the app reads a list in which the server runs, and its card has the button. */
const LIST_IS_KEPT_MS = 3000;

/** Once the first server runs, an alert about it waits in #ops. */
function raiseAlert(tour: Tour, { world, hosting, account }: AlertParts): void {
  const stop = tour.onStep((steps) => {
    const isDone = (id: TourStep['id']) => steps.some((step) => step.id === id && step.isDone);
    if (!isDone('create')) return;
    stop();
    if (isDone('reboot')) return;
    const timer = setInterval(() => {
      const server = hosting.listServers(account).find(({ state }) => state === 'running');
      if (!server) return;
      clearInterval(timer);
      setTimeout(() => void postAlert(world, server.label), LIST_IS_KEPT_MS).unref();
    }, LOOK_MS).unref();
  });
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

/** Made of what is stored: there is nothing to protect in a sandbox. */
const appTokenOf = ({ secrets }: StoredState) => `xapp-${secrets.signingSecret}`;

const appUrlOf = (port: number) => `http://127.0.0.1:${port + 1}`;
