import { createChannels } from './channels.ts';
import type { SlackClock } from './clock.ts';
import { Deliverer } from './deliver.ts';
import { RETRY_DELAYS_MS } from './events.ts';
import { Faults } from './faults.ts';
import { createIds } from './ids.ts';
import { Journal } from './journal.ts';
import { readOwnManifest } from './manifest.ts';
import { Messages } from './messages.ts';
import { RateLimits } from './rate-limits.ts';
import { ReadMarks } from './read-marks.ts';
import { ReplyUrls } from './reply-urls.ts';
import { Roster } from './roster.ts';
import type { SlackOptions } from './slack-options.ts';
import { Triggers } from './triggers.ts';
import { Views } from './views.ts';
import type { InstalledApp, World } from './world.ts';

/** Makes a fresh workspace with the app installed. */
export function createWorld(options: SlackOptions, clock: SlackClock, origin: () => string): World {
  const { stored } = options;
  const ids = createIds(clock, stored?.messages.at(-1)?.ts);
  const journal = new Journal(clock);
  const { manifest = readOwnManifest(), ...given } = options.app;
  const app: InstalledApp = {
    commandsUrl: '',
    ...manifest,
    ackTimeoutMs: 3000,
    eventRetryDelaysMs: RETRY_DELAYS_MS,
    verificationToken: ids.secret(),
    ...given,
  };
  for (const secret of [app.botToken, app.signingSecret, app.verificationToken]) journal.hideSecret(secret);
  return {
    app,
    clock,
    ids,
    journal,
    roster: new Roster(),
    grid: undefined,
    channels: createChannels(),
    messages: new Messages(ids, journal, stored?.messages),
    readMarks: new ReadMarks(journal, stored?.read),
    views: new Views(ids, journal),
    triggers: new Triggers(clock, ids),
    replyUrls: new ReplyUrls(clock, ids, stored?.replyUrls),
    faults: new Faults(),
    limits: new RateLimits(clock, options.hasRateLimits ?? true),
    deliverer: new Deliverer(() => app, clock, journal),
    offered: new Map(),
    origin,
  };
}
