import { findElement, type PlacedElement } from '../block-ids.ts';
import { type Channel, findChannel } from '../channels.ts';
import type { EnteredValues } from '../entered.ts';
import type { Json, PagePlace } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import { enteredBy, type StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';

/** @throws SlackRefusal account_inactive */
export function checkActive(world: World, person: Person): void {
  if (world.roster.findPerson(person.id)?.isDeactivated)
    throw new SlackRefusal('account_inactive', `${person.name} is deactivated and can't sign in`);
}

/** @throws SlackRefusal channel_not_found, not_in_channel */
export function getChannel(world: World, person: Person, wanted: string): Channel {
  const channel = findChannel(world.channels, wanted, person.id);
  if (!channel) throw new SlackRefusal('channel_not_found', `There is no channel ${wanted}`);
  if (!channel.members.has(person.id))
    throw new SlackRefusal('not_in_channel', `${person.name} is not in ${channel.name}`);
  return channel;
}

/** @throws SlackRefusal message_not_found, not_in_channel */
export function getMessage(world: World, person: Person, at: { channel: string; ts: string }): StoredMessage {
  getChannel(world, person, at.channel);
  const message = world.messages.find(at.channel, at.ts);
  if (!message || (message.to !== undefined && message.to !== person.id))
    throw new SlackRefusal('message_not_found', 'This message is not there any more');
  return message;
}

/** @throws SlackRefusal view_closed */
export function getView(world: World, person: Person, id: string): StoredView {
  const view = world.views.find(id);
  if (!view || view.person !== person.id) throw new SlackRefusal('view_closed', 'This view is not open');
  return view;
}

/** @throws SlackRefusal account_inactive, view_closed, message_not_found, not_in_channel */
export function getPlace(world: World, person: Person, place: PagePlace): StoredMessage | StoredView {
  checkActive(world, person);
  return 'view' in place ? getView(world, person, place.view) : getMessage(world, person, place);
}

/** @throws SlackRefusal no_such_element */
export function getElement(
  place: StoredMessage | StoredView,
  blockId: string,
  actionId: string,
): PlacedElement {
  const element = findElement(place.blocks, blockId, actionId);
  if (!element) throw new SlackRefusal('no_such_element', `There is no element ${blockId}/${actionId} here`);
  return element;
}

/** What this person entered at this place; changes are kept. */
export function enteredAt(place: StoredMessage | StoredView, person: Person): EnteredValues {
  return 'hash' in place ? place.entered : enteredBy(place, person.id);
}

const offerKey = (person: Person, place: StoredMessage | StoredView, at: PlacedElement) =>
  [person.id, 'hash' in place ? place.id : `${place.channel}/${place.ts}`, at.blockId, at.actionId].join(' ');

/** The options that an external select shows this person, as the app gave them last. */
export function offeredTo(
  world: World,
  person: Person,
  place: StoredMessage | StoredView,
  at: PlacedElement,
): readonly Json[] {
  return world.offered.get(offerKey(person, place, at)) ?? [];
}

/** A menu for several options keeps what was found by earlier words: a person finds one after another. */
export function rememberOffer(
  world: World,
  person: Person,
  place: StoredMessage | StoredView,
  at: PlacedElement,
  options: readonly Json[],
): void {
  const key = offerKey(person, place, at);
  const isMulti = at.element.type === 'multi_external_select';
  const before = isMulti ? (world.offered.get(key) ?? []) : [];
  world.offered.set(key, [...options, ...before]);
}
