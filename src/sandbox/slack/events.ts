import { setTimeout as sleep } from 'node:timers/promises';
import { readAck } from './acks.ts';
import { type Delivery, NO_ANSWER } from './deliver.ts';
import { textIn } from './json.ts';
import type { StoredMessage } from './messages.ts';
import type { Json, Texts } from './page-api.ts';
import { describeMessage, type EventSource, eventEnvelope } from './payloads.ts';
import { APP, SLACKBOT } from './workspace.ts';
import type { World } from './world.ts';

/** Slack sends an event again at once, after a minute and after five more (Slack's "Events API" page). */
export const RETRY_DELAYS_MS: readonly number[] = [0, 60_000, 300_000];

/**
 * Sends one event of the Events API, if the app subscribes to it; one that is not acknowledged comes again later, newly
 * signed. Resolves with the first try; undefined: the app doesn't subscribe to it.
 */
export async function sendEvent(world: World, event: Json, from?: EventSource) {
  // An app that has never listened anywhere can't be late with an acknowledgment.
  const isReachable = world.app.isSocketMode || world.app.commandsUrl !== '';
  if (!isReachable || !isSubscribed(world, event)) return undefined;
  const body = JSON.stringify(eventEnvelope(world, event, from));
  const what = `event ${String(event.type)}`;
  const first = await world.deliverer.send(what, 'json', body);
  const { ok } = readAck(world, first);
  const isRepeated = world.faults.takeRepeatedEvent();
  if (!ok || isRepeated)
    void retry(world, what, body, ok ? { ...first, response: NO_ANSWER, status: null } : first);
  return first;
}

async function retry(world: World, what: string, body: string, failed: Delivery): Promise<void> {
  let last = failed;
  for (const [index, delayMs] of world.app.eventRetryDelaysMs.entries()) {
    if (last.responseHeaders['x-slack-no-retry'] === '1') return;
    await sleep(delayMs, undefined, { ref: false });
    last = await world.deliverer.send(`${what} (retry ${index + 1})`, 'json', body, {
      'x-slack-retry-num': String(index + 1),
      'x-slack-retry-reason': reasonOf(last),
    });
    if (last.status === 200) return;
  }
}

function reasonOf({ status, response }: Delivery): string {
  if (status !== null) return 'http_error';
  return response === NO_ANSWER ? 'http_timeout' : 'connection_failed';
}

/** What a manifest calls the messages of each kind of channel (Slack's "message" event). */
const MESSAGES: Texts = {
  channel: 'message.channels',
  group: 'message.groups',
  im: 'message.im',
  mpim: 'message.mpim',
};

/** The scope that an event needs besides its subscription; those that are left out need none. */
const SCOPES: Texts = {
  app_mention: 'app_mentions:read',
  'message.channels': 'channels:history',
  'message.groups': 'groups:history',
  'message.im': 'im:history',
  'message.mpim': 'mpim:history',
};

function isSubscribed({ app }: World, event: Json): boolean {
  const type = textIn(event, 'type');
  const name = type === 'message' ? (MESSAGES[textIn(event, 'channel_type')] ?? type) : type;
  const scope = SCOPES[name];
  return app.events.includes(name) && (scope === undefined || app.scopes.includes(scope));
}

/**
 * Sends the event of a message that was posted: `message.im` in the app's conversation, also for the app's own messages,
 * and `app_mention` where the app is mentioned and a member. `more`: its subtype, and what goes with it. Undefined: the app gets
 * no event.
 */
export async function sendPosted(world: World, message: StoredMessage, more: Json = {}) {
  if (message.to !== undefined || message.user === SLACKBOT) return undefined;
  const from = sourceOf(world, message);
  if (from.channel?.kind === 'dm')
    return sendEvent(world, { ...eventOf(world, message), ...more, channel_type: 'im' }, from);
  if (!mentionsApp(message)) return undefined;
  if (from.channel?.members.has(APP.botUserId))
    return sendEvent(world, { ...mentionOf(world, message), ...more }, from);
  world.messages.post({
    channel: message.channel,
    user: SLACKBOT,
    text: `You mentioned <@${APP.botUserId}>, but they’re not in this channel.`,
    to: message.user,
    ...(message.threadTs === undefined ? {} : { threadTs: message.threadTs }),
  });
  return undefined;
}

/** Sends the event of a message that was edited: a mention comes again, and says so. */
export async function sendChanged(world: World, message: StoredMessage, before: StoredMessage) {
  if (message.to !== undefined) return undefined;
  const from = sourceOf(world, message);
  if (from.channel?.kind === 'dm')
    return sendEvent(
      world,
      {
        type: 'message',
        subtype: 'message_changed',
        hidden: true,
        channel: message.channel,
        channel_type: 'im',
        ts: world.ids.ts(),
        message: describeMessage(message, world.team),
        previous_message: describeMessage(before, world.team),
      },
      from,
    );
  const isTold = mentionsApp(message) && message.user !== APP.botUserId;
  return isTold && from.channel?.members.has(APP.botUserId)
    ? sendEvent(world, mentionOf(world, message), from)
    : undefined;
}

/** Slack doesn't wait for events before it answers what caused them. */
export function sendInBackground(sending: Promise<unknown>): void {
  void sending.catch(() => undefined);
}

function sourceOf(world: World, { user, channel }: StoredMessage) {
  return {
    user: world.roster.findUser(user),
    channel: world.channels.find(({ id }) => id === channel),
  };
}

function mentionsApp({ text, user }: StoredMessage): boolean {
  return user !== APP.botUserId && new RegExp(`<@${APP.botUserId}(\\|[^>]*)?>`).test(text);
}

/** In a mention, `team` is the workspace of the app; only `user_team` says where the user is at home. */
function mentionOf(world: World, message: StoredMessage): Json {
  const home = world.roster.findUser(message.user)?.teamId;
  const event = eventOf(world, message);
  return { ...event, type: 'app_mention', team: world.team.id, user_team: home, source_team: home };
}

function eventOf(world: World, message: StoredMessage): Json {
  const { edited, ...described } = describeMessage(message, world.team);
  return {
    ...described,
    team: world.roster.findUser(message.user)?.teamId ?? world.team.id,
    channel: message.channel,
    ...(message.edited ? { edited: { user: message.user, ts: world.ids.ts() } } : {}),
  };
}
