import type { Delivery } from './deliver.ts';
import { sendEvent } from './events.ts';
import type { Json } from './page-api.ts';
import { describeMessage } from './payloads.ts';
import type { StoredMessage } from './stored-message.ts';
import { APP, SLACKBOT } from './workspace.ts';
import type { World } from './world.ts';

/**
 * Sends the event of a message that was posted: `message.im` in the app's conversation, also for the app's own messages,
 * and `app_mention` where the app is mentioned and a member. `more`: its subtype, and what goes with it. Undefined: the app gets
 * no event.
 */
export async function sendPosted(
  world: World,
  message: StoredMessage,
  more: Json = {},
): Promise<Delivery | undefined> {
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
export async function sendChanged(
  world: World,
  message: StoredMessage,
  before: StoredMessage,
): Promise<Delivery | undefined> {
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
