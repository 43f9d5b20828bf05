import { randomBytes } from 'node:crypto';
import { Deliverer } from './deliver.ts';
import { RETRY_DELAYS_MS } from './events.ts';
import { createRateLimits, Faults } from './faults.ts';
import { Journal } from './journal.ts';
import { type ManifestFacts, readOwnManifest } from './manifest.ts';
import { Messages } from './messages.ts';
import { OAuth, type OAuthApp } from './oauth.ts';
import type { Json } from './page-api.ts';
import { createReplyUrls } from './reply-urls.ts';
import type { Pages } from './server.ts';
import { SocketConnections } from './sockets.ts';
import { createTriggers, Views } from './views.ts';
import { createWorkflowRuns } from './workflows.ts';
import { createChannels, Roster, TEAM, type Team } from './workspace.ts';

/** One workspace of the local Slack, as its parts see it. */
export type World = ReturnType<typeof createWorld>;

/** All workspaces; of the first one there is a page. */
export type Worlds = readonly [World, ...World[]];

/** What the manifest lets the app do in this workspace. */
type GrantedFacts = {
  -readonly [Field in Exclude<keyof ManifestFacts, 'redirectUrls' | 'rotatesTokens'>]: ManifestFacts[Field];
};

/** The app as installed in the workspace. Everything may be changed while the local Slack runs. */
export interface InstalledApp extends GrantedFacts {
  /** The app's `/slack/events`; empty until the app listens. */
  commandsUrl: string;
  signingSecret: string;
  /** Empty: it is not installed yet, and `oauth` says how it can be. */
  botToken: string;
  /** The app-level token, for Socket Mode. */
  appToken: string;
  appTokenScopes: readonly string[];
  /** How long Slack waits for an ack; really 3000. */
  ackTimeoutMs: number;
  /** When an event that was not acknowledged comes again; really at once, after a minute and after five. */
  eventRetryDelaysMs: readonly number[];
  /** The deprecated verification token that payloads still carry. */
  readonly verificationToken: string;
}

/** The Enterprise Grid organization that the workspace is part of. */
export interface Grid {
  /** `E…` */
  readonly id: string;
  readonly name: string;
  /** The app was installed for the whole organization, not for this workspace. */
  readonly isOrgInstall: boolean;
}

export interface SlackOptions {
  readonly app: Pick<InstalledApp, 'signingSecret' | 'botToken'> &
    Partial<Omit<InstalledApp, 'verificationToken'>> & {
      /** Lets users install the app; the rest is as in the manifest. */
      readonly oauth?: Pick<OAuthApp, 'clientId' | 'clientSecret'> & Partial<OAuthApp>;
      /** What the app was created from; default the manifest of this repository. */
      readonly manifest?: ManifestFacts;
    };
  /** Slack's tiers, and one message a second in each channel; default true. */
  readonly hasRateLimits?: boolean;
  /** For triggers (3 s), response_urls (30 min) and timestamps; default the wall clock. */
  readonly clock?: SlackClock;
  /** Default: any free one. */
  readonly port?: number;
  /** Serves the paths that the local Slack does not. */
  readonly pages?: Pages;
}

interface Shared {
  readonly app: InstalledApp;
  readonly oauth: OAuth;
  readonly sockets: SocketConnections;
}

/** Makes a fresh workspace, the first one or another one of the same app. */
export function createWorld(
  options: SlackOptions,
  clock: SlackClock,
  /** `http://127.0.0.1:1234` */
  origin: () => string,
  { team = TEAM, first }: { readonly team?: Team; readonly first?: Shared } = {},
) {
  const ids = createIds(clock);
  const journal = new Journal(clock);
  const app = makeApp(options, ids, first?.app);
  for (const secret of [app.botToken, app.appToken, app.signingSecret, app.verificationToken])
    journal.hideSecret(secret);
  const sockets = first?.sockets ?? new SocketConnections(app, clock, ids, journal);
  return {
    team,
    oauth: first?.oauth ?? makeOAuth(options, clock, ids, journal),
    app,
    clock,
    ids,
    journal,
    roster: new Roster(team),
    /** Undefined: a workspace outside of a grid. */
    grid: undefined as Grid | undefined,
    /** Deleted channels are taken out. */
    channels: createChannels(team),
    messages: new Messages(ids, journal),
    views: new Views(ids, journal),
    triggers: createTriggers(clock, ids),
    replyUrls: createReplyUrls(clock, ids, team),
    workflowRuns: createWorkflowRuns(ids, journal),
    faults: new Faults(),
    limits: createRateLimits(clock, options.hasRateLimits ?? true),
    deliverer: new Deliverer(app, sockets, clock, journal),
    sockets,
    /** Options an external select was given last: user, place and ids -> options. */
    offered: new Map<string, readonly Json[]>(),
    origin,
  };
}

function makeApp({ app: given }: SlackOptions, ids: Ids, first: InstalledApp | undefined): InstalledApp {
  const { manifest = readOwnManifest(), oauth: _oauth, ...more } = given;
  const { redirectUrls: _urls, rotatesTokens: _rotates, ...facts } = manifest;
  const app: InstalledApp = {
    commandsUrl: '',
    ...facts,
    appToken: '',
    appTokenScopes: ['connections:write'],
    ackTimeoutMs: 3000,
    eventRetryDelaysMs: RETRY_DELAYS_MS,
    verificationToken: ids.secret(),
    ...more,
  };
  return first
    ? shareAddress({ ...app, botToken: '', verificationToken: first.verificationToken }, first)
    : app;
}

/** Where the app listens is the same in every workspace. */
function shareAddress(app: InstalledApp, of: InstalledApp): InstalledApp {
  return Object.defineProperty(app, 'commandsUrl', {
    get: () => of.commandsUrl,
    set: (url: string) => {
      of.commandsUrl = url;
    },
  });
}

function makeOAuth({ app: given }: SlackOptions, clock: SlackClock, ids: Ids, journal: Journal): OAuth {
  const { redirectUrls, rotatesTokens, scopes } = given.manifest ?? readOwnManifest();
  const oauth = new OAuth(clock, ids, (secret) => journal.hideSecret(secret));
  oauth.app = given.oauth && { redirectUrls, rotatesTokens, scopes, ...given.oauth };
  return oauth;
}

/** What the local Slack knows of time; the system's clock fits. */
export interface SlackClock {
  /** Epoch milliseconds. */
  now(): number;
}

export const wallClock: SlackClock = { now: () => Date.now() };

/** Makes a clock that only moves when told to, so that expiry can be tested without waiting. */
export function makeHandClock(startMs = Date.now()) {
  let now = startMs;
  return {
    now: () => now,
    advance: (ms: number) => {
      now += ms;
    },
  };
}

export type Ids = ReturnType<typeof createIds>;

/** Makes a source of ids and timestamps in Slack's manner, never the same twice, for one workspace. */
export function createIds(clock: SlackClock) {
  let lastSecond = 0;
  let count = 0;
  return {
    /** `1700000000.000100`: seconds, and a number that only grows. */
    ts: () => {
      lastSecond = Math.max(lastSecond, Math.floor(clock.now() / 1000));
      count += 1;
      return `${lastSecond}.${String(count).padStart(6, '0')}`;
    },
    /** A prefix and ten characters: `V0…`. */
    id: (prefix: string) => `${prefix}${randomBytes(8).toString('hex').toUpperCase().slice(0, 10)}`,
    secret: () => randomBytes(12).toString('hex'),
  };
}
