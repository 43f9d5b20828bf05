import { createChannels } from './channels.ts';
import type { SlackClock } from './clock.ts';
import { Deliverer } from './deliver.ts';
import { RETRY_DELAYS_MS } from './events.ts';
import { Faults } from './faults.ts';
import { createIds, type Ids } from './ids.ts';
import { Journal } from './journal.ts';
import { readOwnManifest } from './manifest.ts';
import { Messages } from './messages.ts';
import { OAuth } from './oauth/oauth.ts';
import { RateLimits } from './rate-limits.ts';
import { ReadMarks } from './read-marks.ts';
import { ReplyUrls } from './reply-urls.ts';
import { Roster } from './roster.ts';
import type { SlackOptions } from './slack-options.ts';
import { SocketConnections } from './socket/connections.ts';
import { Triggers } from './triggers.ts';
import { Views } from './views.ts';
import { WorkflowRuns } from './workflows/runs.ts';
import { TEAM, type Team } from './workspace.ts';
import type { InstalledApp, World } from './world.ts';

/** Makes a fresh workspace, the first one or another one of the same app. */
export function createWorld(
  options: SlackOptions,
  clock: SlackClock,
  origin: () => string,
  { team = TEAM, first }: { readonly team?: Team; readonly first?: World } = {},
): World {
  const { stored } = options;
  const ids = createIds(clock, stored?.messages.at(-1)?.ts);
  const journal = new Journal(clock);
  const app = makeApp(options, ids, first?.app);
  const oauth = first?.oauth ?? makeOAuth(options, clock, ids, journal);
  for (const secret of [app.botToken, app.appToken, app.signingSecret, app.verificationToken])
    journal.hideSecret(secret);
  const sockets = first?.sockets ?? new SocketConnections(app, clock, ids, journal);
  return {
    team,
    oauth,
    app,
    clock,
    ids,
    journal,
    roster: new Roster(team),
    grid: undefined,
    channels: createChannels(team),
    messages: new Messages(ids, journal, stored?.messages),
    readMarks: new ReadMarks(journal, stored?.read),
    views: new Views(ids, journal),
    triggers: new Triggers(clock, ids),
    replyUrls: new ReplyUrls(clock, ids, team, stored?.replyUrls),
    workflowRuns: new WorkflowRuns(ids, journal),
    faults: new Faults(),
    limits: new RateLimits(clock, options.hasRateLimits ?? true),
    deliverer: new Deliverer(() => app, sockets, clock, journal),
    sockets,
    offered: new Map(),
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

function makeOAuth({ app: given }: SlackOptions, clock: SlackClock, ids: Ids, journal: Journal): OAuth {
  const { redirectUrls, rotatesTokens, scopes } = given.manifest ?? readOwnManifest();
  const oauth = new OAuth(clock, ids, (secret) => journal.hideSecret(secret));
  oauth.app = given.oauth && { redirectUrls, rotatesTokens, scopes, ...given.oauth };
  return oauth;
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
