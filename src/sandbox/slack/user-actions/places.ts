import { type EnteredValues, listElements, type PlacedElement } from '../entered.ts';
import { objectIn } from '../json.ts';
import { enteredBy, type StoredMessage } from '../messages.ts';
import type { Entered, Json, PagePlace } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import type { Place, StoredView } from '../views.ts';
import { type Channel, findChannel, type User } from '../workspace.ts';
import type { World } from '../world.ts';

/** @throws SlackRefusal account_inactive */
export function checkActive(world: World, user: User): void {
  if (world.roster.findUser(user.id)?.isDeactivated)
    throw new SlackRefusal('account_inactive', `${user.name} is deactivated and can't sign in`);
}

/** @throws SlackRefusal channel_not_found, not_in_channel */
export function getChannel(world: World, user: User, wanted: string): Channel {
  const channel = findChannel(world.channels, wanted, user.id);
  if (!channel) throw new SlackRefusal('channel_not_found', `There is no channel ${wanted}`);
  if (!channel.members.has(user.id))
    throw new SlackRefusal('not_in_channel', `${user.name} is not in ${channel.name}`);
  return channel;
}

/** @throws SlackRefusal message_not_found, not_in_channel */
export function getMessage(world: World, user: User, at: { channel: string; ts: string }): StoredMessage {
  getChannel(world, user, at.channel);
  const message = world.messages.find(at.channel, at.ts);
  if (!message || (message.to !== undefined && message.to !== user.id))
    throw new SlackRefusal('message_not_found', 'This message no longer exists');
  return message;
}

/** @throws SlackRefusal view_closed */
export function getView(world: World, user: User, id: string): StoredView {
  const view = world.views.find(id);
  if (!view || view.user !== user.id) throw new SlackRefusal('view_closed', 'This view is not open');
  return view;
}

/** @throws SlackRefusal account_inactive, view_closed, message_not_found, not_in_channel */
export function getPlace(world: World, user: User, place: PagePlace): Place {
  checkActive(world, user);
  return 'view' in place ? getView(world, user, place.view) : getMessage(world, user, place);
}

/** @throws SlackRefusal no_such_element */
export function getElement(place: Place, blockId: string, actionId: string): PlacedElement {
  const element = listElements(place.blocks).find(
    (each) => each.blockId === blockId && each.actionId === actionId,
  );
  if (!element) throw new SlackRefusal('no_such_element', `There is no element ${blockId}/${actionId} here`);
  return element;
}

export function enteredAt(place: Place, user: User): EnteredValues {
  return 'hash' in place ? place.entered : enteredBy(place, user.id);
}

/** The options that an external select shows this user, as the app gave them last: this text names it in `world.offered`. */
export function offerKey(user: User, place: Place, at: PlacedElement): string {
  const where = 'hash' in place ? place.id : `${place.channel}/${place.ts}`;
  return [user.id, where, at.blockId, at.actionId].join(' ');
}

/**
 * A conversation menu offers what the user can see and its `filter` lets through.
 * @throws SlackRefusal not_an_option
 */
export function checkPicker(world: World, user: User, element: Json, value: Entered): void {
  if (element.type !== 'conversations_select' || typeof value !== 'string' || value === '') return;
  const channel = findChannel(world.channels, value);
  const isSeen =
    channel && !channel.isArchived && (channel.kind === 'public' || channel.members.has(user.id));
  if (isSeen && isOffered(channel, element)) return;
  // Direct messages are named by the other user.
  if (!channel && world.roster.findUser(value) && includes(element, 'im')) return;
  throw new SlackRefusal('not_an_option', `${channel?.name ?? value} is not offered by this menu's filter`);
}

function isOffered(channel: Channel, element: Json): boolean {
  const kind = { dm: 'im', private: 'private', public: 'public', shared: 'public' }[channel.kind];
  const isShut = objectIn(element, 'filter')?.exclude_external_shared_channels === true;
  return includes(element, kind) && !(isShut && channel.kind === 'shared');
}

function includes(element: Json, kind: string): boolean {
  const include = objectIn(element, 'filter')?.include;
  return !Array.isArray(include) || include.includes(kind);
}
