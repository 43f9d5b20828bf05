import { type Ack, messageInAck, readAck } from '../acks.ts';
import type { Channel } from '../channels.ts';
import { checkOutsiders } from '../checks.ts';
import type { Delivery } from '../deliver.ts';
import { textIn } from '../json.ts';
import { escapeEntities, escapeTyped } from '../mentions.ts';
import { sendPosted } from '../message-events.ts';
import { commandFields } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import { APP, SLACKBOT, type User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, getChannel } from './places.ts';
import { watchForSilence } from './silence.ts';

/** How something is typed. */
export interface Typing {
  /** The command reaches the app even from a user of another organization, as if Slack had let it through. */
  readonly isForced?: boolean;
  /** The name of a file that is sent with the message. */
  readonly file?: string;
  /** In the thread that begins with this message. */
  readonly threadTs?: string | undefined;
}

/**
 * A user types into a channel: a slash command goes to the app, anything else is a message. With `isForced`
 * the command is sent although Slack blocks it for users of other organizations: this tests the app's own permission check.
 * @throws SlackRefusal account_inactive, channel_not_found, not_in_channel, is_archived, unknown_command, command_not_available,
 * messages_tab_disabled, not_in_threads
 */
export async function type(
  world: World,
  user: User,
  channelId: string,
  text: string,
  { isForced = false, file, threadTs }: Typing = {},
): Promise<Delivery | undefined> {
  checkActive(world, user);
  const channel = getChannel(world, user, channelId);
  if (channel.isArchived) throw new SlackRefusal('is_archived', `${channel.name} is archived`);
  const { hasMessagesTab, isMessagesTabReadOnly } = world.app;
  if (channel.kind === 'dm' && (!hasMessagesTab || isMessagesTabReadOnly))
    throw new SlackRefusal('messages_tab_disabled', 'Sending messages to this app has been turned off');
  const isMe = text.startsWith('/me ') && threadTs === undefined;
  if (isMe || !text.startsWith('/')) {
    const thread = threadTs === undefined ? {} : { threadTs };
    const said = escapeTyped(isMe ? text.slice(4) : text, world);
    const draft = { channel: channel.id, user: user.id, text: said, ...thread };
    const withFile =
      file === undefined ? {} : { subtype: 'file_share', files: [{ id: 'F0FILE', name: file }] };
    return sendPosted(world, world.messages.post(draft), isMe ? { subtype: 'me_message' } : withFile);
  }
  if (threadTs !== undefined)
    throw new SlackRefusal('not_in_threads', `${text.split(' ')[0]} is not supported in threads`);
  const [command = '', ...rest] = text.split(' ');
  if (command !== world.app.command || !world.app.scopes.includes('commands'))
    throw new SlackRefusal('unknown_command', `${command} is not a valid command`);
  if (user.isExternal && !isForced)
    throw new SlackRefusal('command_not_available', 'Commands are not shared with other organizations');
  return runCommand(world, user, channel, rest.join(' ').trim());
}

async function runCommand(world: World, user: User, channel: Channel, typed: string): Promise<Delivery> {
  const text = world.app.shouldEscape ? escapeTyped(typed, world) : escapeEntities(typed);
  const fields = commandFields(world, user, channel, text);
  const what = `command ${world.app.command} ${typed}`.trim();
  watchForSilence(world, user, what);
  const delivery = await world.deliverer.send(what, 'form', new URLSearchParams(fields).toString());
  const ack = readAck(world, delivery);
  if (ack.ok) {
    showMessage(world, what, ack, fields);
    return delivery;
  }
  const words = `${world.app.command} failed with the error "${ack.error}"`;
  world.messages.post({ channel: channel.id, user: SLACKBOT, text: escapeEntities(words), to: user.id });
  return delivery;
}

/** Shows what the ack of a command says that was delivered without its user's screen. */
export function showAck(world: World, fields: Readonly<Record<string, string>>, delivery: Delivery): void {
  const isKnown = world.channels.some(({ id }) => id === fields.channel_id);
  if (isKnown && delivery.status === 200) showMessage(world, delivery.what, readAck(world, delivery), fields);
}

function showMessage(
  world: World,
  what: string,
  ack: Ack,
  { channel_id: channel = '', user_id: to = '' }: Readonly<Record<string, string>>,
): void {
  const message = messageInAck(world, what, ack);
  if (!message) return;
  const isPublic = textIn(message, 'response_type') === 'in_channel';
  if (isPublic) checkOutsiders(world, what, channel, textIn(message, 'text'));
  world.messages.post({
    channel,
    user: APP.botUserId,
    text: textIn(message, 'text'),
    blocks: message.blocks,
    ...(isPublic ? {} : { to }),
  });
}
