import type { Channel } from './channels.ts';
import type { SlackClock } from './clock.ts';
import type { Deliverer } from './deliver.ts';
import type { Faults } from './faults.ts';
import type { Ids } from './ids.ts';
import type { Journal } from './journal.ts';
import type { Messages } from './messages.ts';
import type { OAuth } from './oauth/oauth.ts';
import type { Json, PageShortcut } from './page-api.ts';
import type { RateLimits } from './rate-limits.ts';
import type { ReadMarks } from './read-marks.ts';
import type { ReplyUrls } from './reply-urls.ts';
import type { Roster } from './roster.ts';
import type { SocketConnections } from './socket/connections.ts';
import type { Triggers } from './triggers.ts';
import type { Views } from './views.ts';
import type { WorkflowRuns } from './workflows/runs.ts';
import type { StepDefinition } from './workflows/step-definition.ts';
import type { Team } from './workspace.ts';

/** The app as installed in the workspace. Everything may be changed while the local Slack runs. */
export interface InstalledApp {
  /** The app's `/slack/events`; empty until the app listens. */
  commandsUrl: string;
  signingSecret: string;
  botToken: string;
  /** The app-level token, for Socket Mode. */
  appToken: string;
  /** Scopes of the app-level token. */
  appTokenScopes: readonly string[];
  /** Everything is sent over the app's WebSockets, and nothing over HTTP. */
  isSocketMode: boolean;
  /** `/vps` */
  command: string;
  description: string;
  usageHint: string;
  shouldEscape: boolean;
  /** Bot scopes that were granted. */
  scopes: readonly string[];
  /** Without it, `views.publish` is refused. */
  hasHomeTab: boolean;
  /** Without it, direct messages of the app are refused. */
  hasMessagesTab: boolean;
  isMessagesTabReadOnly: boolean;
  shortcuts: readonly PageShortcut[];
  /** The events that it subscribes to. */
  events: readonly string[];
  /** What it offers in workflows. */
  steps: readonly StepDefinition[];
  isInteractive: boolean;
  hasMenuOptions: boolean;
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

/** One workspace of the local Slack, as its parts see it. */
export interface World {
  readonly team: Team;
  /** What all workspaces share: how the app is installed. */
  readonly oauth: OAuth;
  readonly app: InstalledApp;
  readonly clock: SlackClock;
  readonly ids: Ids;
  readonly journal: Journal;
  readonly roster: Roster;
  /** Undefined: a workspace outside of a grid. */
  grid: Grid | undefined;
  /** Deleted channels are taken out. */
  readonly channels: Channel[];
  readonly messages: Messages;
  readonly readMarks: ReadMarks;
  readonly views: Views;
  readonly triggers: Triggers;
  readonly replyUrls: ReplyUrls;
  readonly workflowRuns: WorkflowRuns;
  readonly faults: Faults;
  readonly limits: RateLimits;
  readonly deliverer: Deliverer;
  readonly sockets: SocketConnections;
  /** Options an external select was given last: user, place and ids -> options. */
  readonly offered: Map<string, readonly Json[]>;
  /** `http://127.0.0.1:1234` */
  origin(): string;
}
