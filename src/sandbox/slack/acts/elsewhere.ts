import { expectEmptyAck, readAck } from '../acks.ts';
import { findChannel } from '../channels.ts';
import type { Delivery } from '../deliver.ts';
import type { Json } from '../page-api.ts';
import { eventEnvelope, shortcutPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import { describeView } from '../views.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, getMessage } from './places.ts';

/**
 * A person uses a global shortcut, or one on a message.
 * @throws SlackRefusal unknown_shortcut, message_not_found
 */
export async function useShortcut(
  world: World,
  person: Person,
  callbackId: string,
  at?: { readonly channel: string; readonly ts: string },
): Promise<Delivery> {
  checkActive(world, person);
  const type = at ? 'message' : 'global';
  const known = world.app.shortcuts.some((each) => each.callbackId === callbackId && each.type === type);
  if (!known) throw new SlackRefusal('unknown_shortcut', `The app has no ${type} shortcut ${callbackId}`);
  if (person.isStranger)
    throw new SlackRefusal('shortcut_not_available', 'Shortcuts are not shared with other organisations');
  const message = at && getMessage(world, person, at);
  const payload = shortcutPayload(world, person, callbackId, message);
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const delivery = await world.deliverer.send(`shortcut ${callbackId}`, 'form', body);
  expectEmptyAck(world, delivery.what, readAck(world, delivery));
  return delivery;
}

/** A person opens the app's home tab. */
export async function openHome(world: World, person: Person): Promise<Delivery | undefined> {
  checkActive(world, person);
  const channel = findChannel(world.channels, 'dm', person.id);
  if (!channel) throw new SlackRefusal('no_home', `${person.name} can't open the app's home`);
  const home = world.views.homeOf(person.id);
  return sendEvent(world, {
    type: 'app_home_opened',
    user: person.id,
    channel: channel.id,
    tab: 'home',
    ...(home ? { view: describeView(home) } : {}),
  });
}

/** Sends one event of the Events API, once: the local Slack does not retry by itself. */
export async function sendEvent(world: World, event: Json): Promise<Delivery> {
  const body = JSON.stringify(eventEnvelope(world, event));
  const delivery = await world.deliverer.send(`event ${String(event.type)}`, 'json', body);
  readAck(world, delivery);
  return delivery;
}

/** A person reloads the client: ephemeral messages and open modals are gone. */
export function reload(world: World, person: Person): void {
  world.messages.forgetEphemeralsOf(person.id);
  const top = world.views.stackOf(person.id).at(-1);
  if (top) world.views.close(top, true);
  world.journal.emit({ type: 'reload', person: person.id });
}
