import { type Ack, expectEmptyAck, messageInAck, readAck, sendInteraction } from '../acks.ts';
import { checkOutsiders } from '../checks.ts';
import type { Delivery } from '../deliver.ts';
import { sendEvent, sendPosted } from '../events.ts';
import type { SlackEvent } from '../journal.ts';
import { textIn } from '../json.ts';
import { escapeEntities, escapeTyped } from '../mentions.ts';
import type { Texts } from '../page-api.ts';
import { commandFields, shortcutPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import { describeView } from '../views.ts';
import { APP, type Channel, findChannel, SLACKBOT, type User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, getChannel, getMessage } from './places.ts';

export interface Typing {
  /** The command reaches the app even from a user of another organization, as if Slack had let it through. */
  readonly isForced?: boolean;
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
    const said = escapeTyped(isMe ? text.slice(4) : text, world);
    const draft = { channel: channel.id, user: user.id, text: said, threadTs };
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
export function showAck(world: World, fields: Texts, delivery: Delivery): void {
  const isKnown = world.channels.some(({ id }) => id === fields.channel_id);
  if (isKnown && delivery.status === 200) showMessage(world, delivery.what, readAck(world, delivery), fields);
}

function showMessage(
  world: World,
  what: string,
  ack: Ack,
  { channel_id: channel = '', user_id: to = '' }: Texts,
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

/** If a user sees nothing of a command for this long, they assume that it failed. */
const SILENCE_MS = 3000;

/** Records a broken rule when the user has seen nothing 3 s after they typed a command. */
function watchForSilence(world: World, user: User, what: string): void {
  const end = () => {
    stop();
    clearTimeout(timer);
  };
  const stop = world.journal.onEvent((event) => {
    if (isSeenBy(event, user, world)) end();
  });
  const timer = setTimeout(() => {
    stop();
    world.journal.breakRule('silent', `${what}: ${user.name} saw nothing for 3 s`);
  }, SILENCE_MS);
  timer.unref();
}

function isSeenBy(event: SlackEvent, user: User, world: World): boolean {
  if (event.type === 'views' || event.type === 'home') return event.user === user.id;
  if (event.type !== 'message' && event.type !== 'message_changed') return false;
  const { to, channel, user: author } = event.message;
  if (author === user.id) return false;
  if (to !== undefined) return to === user.id;
  return world.channels.some(({ id, members }) => id === channel && members.has(user.id));
}

/**
 * A user uses a global shortcut, or one on a message.
 * @throws SlackRefusal unknown_shortcut, message_not_found, not_interactive
 */
export async function useShortcut(
  world: World,
  user: User,
  callbackId: string,
  at?: { readonly channel: string; readonly ts: string },
): Promise<Delivery> {
  checkActive(world, user);
  const type = at ? 'message' : 'global';
  const known = world.app.shortcuts.some((each) => each.callbackId === callbackId && each.type === type);
  if (!known || !world.app.scopes.includes('commands'))
    throw new SlackRefusal('unknown_shortcut', `The app has no ${type} shortcut ${callbackId}`);
  if (user.isExternal)
    throw new SlackRefusal('shortcut_not_available', 'Shortcuts are not shared with other organizations');
  const message = at && getMessage(world, user, at);
  const payload = shortcutPayload(world, user, callbackId, message);
  const delivery = await sendInteraction(world, `shortcut ${callbackId}`, payload);
  expectEmptyAck(world, delivery.what, readAck(world, delivery));
  return delivery;
}

export type AppTab = 'home' | 'messages';

/** A user opens a tab of the app's conversation. Slack sends the event each time, and for each of the tabs. */
export async function openTab(world: World, user: User, tab: AppTab): Promise<Delivery | undefined> {
  checkActive(world, user);
  const isThere = tab === 'home' ? world.app.hasHomeTab : world.app.hasMessagesTab;
  if (!isThere)
    throw new SlackRefusal('no_home', `This app has no ${tab === 'home' ? 'Home' : 'Messages'} tab`);
  const channel = findChannel(world.channels, 'dm', user.id);
  if (!channel) throw new SlackRefusal('no_home', `${user.name} can't open the app's home`);
  const home = tab === 'home' ? world.views.homeOf(user.id) : undefined;
  return sendEvent(world, {
    type: 'app_home_opened',
    user: user.id,
    channel: channel.id,
    tab,
    ...(home ? { view: describeView(home, user.teamId, world.team.id) } : {}),
  });
}

/** A user reloads the client: ephemeral messages and open modals are gone. */
export function reload(world: World, user: User): void {
  world.messages.forgetEphemeralsOf(user.id);
  const top = world.views.stackOf(user.id).at(-1);
  if (top) world.views.close(top, true);
  world.journal.emit({ type: 'reload', user: user.id });
}
