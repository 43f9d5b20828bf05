import { expectEmptyAck, readAck } from '../acks.ts';
import type { PlacedElement } from '../block-ids.ts';
import type { Delivery } from '../deliver.ts';
import { enter, isStateful, isTextInput, optionFor, stateOf } from '../entered.ts';
import { sendInteraction } from '../interactions.ts';
import { objectIn } from '../json.ts';
import type { Entered, Json, PagePlace } from '../page-api.ts';
import { actionPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';
import { SLACKBOT, type User } from '../workspace.ts';
import type { World } from '../world.ts';
import { TROUBLE } from './apply-ack.ts';
import { checkPicker } from './pickers.ts';
import { enteredAt, getElement, getPlace, offeredTo } from './places.ts';

export interface Act {
  readonly place: PagePlace;
  readonly block: string;
  readonly action: string;
  readonly value?: Entered;
  readonly confirmed?: boolean;
}

/**
 * A user presses a button, chooses from a menu, or ticks a box; the app gets block_actions.
 * @throws SlackRefusal confirm_needed, not_an_option, no_such_element, message_not_found, view_closed, not_interactive
 */
export async function press(world: World, user: User, act: Act): Promise<Delivery> {
  const place = getPlace(world, user, act.place);
  const at = getElement(place, act.block, act.action);
  const confirm = objectIn(at.element, 'confirm');
  if (confirm && act.confirmed !== true)
    throw new SlackRefusal('confirm_needed', 'This asks for a confirmation first', { confirm });
  const action = actionOf(world, user, place, at, act.value ?? null);
  return dispatch(world, user, place, action);
}

/**
 * A user enters something into an input; the app gets an event only if the block has dispatch_action.
 * @throws SlackRefusal not_an_option, no_such_element, view_closed
 */
export async function fill(world: World, user: User, act: Act): Promise<Delivery | undefined> {
  const place = getPlace(world, user, act.place);
  const at = getElement(place, act.block, act.action);
  if (at.block.type !== 'input' && !isTextInput(at.element)) return press(world, user, act);
  const action = actionOf(world, user, place, at, act.value ?? null);
  return at.block.dispatch_action === true ? dispatch(world, user, place, action) : undefined;
}

async function dispatch(
  world: World,
  user: User,
  place: StoredMessage | StoredView,
  action: Json,
): Promise<Delivery> {
  const payload = actionPayload(world, user, place, action);
  const delivery = await sendInteraction(world, `block_actions ${String(action.action_id)}`, payload);
  const ack = readAck(world, delivery);
  expectEmptyAck(world, delivery.what, ack);
  if (ack.ok) return delivery;
  if ('hash' in place) world.views.complain(place, {}, TROUBLE);
  else world.messages.post({ channel: place.channel, user: SLACKBOT, text: TROUBLE, to: user.id });
  return delivery;
}

function actionOf(
  world: World,
  user: User,
  place: StoredMessage | StoredView,
  at: PlacedElement,
  value: Entered,
): Json {
  const { element } = at;
  const ids = { type: element.type, block_id: at.blockId, action_id: at.actionId };
  if (isStateful(element)) {
    const entered = enteredAt(place, user);
    checkPicker(world, user, element, value);
    enter(at, value, entered, offeredTo(world, user, place, at));
    return { ...ids, ...stateOf(at, entered), ...copied(element, ['placeholder', 'confirm']) };
  }
  if (element.type === 'overflow') {
    return {
      ...ids,
      selected_option: optionFor(element, String(value), []),
      ...copied(element, ['confirm']),
    };
  }
  return { ...ids, ...copied(element, ['text', 'value', 'url', 'style', 'confirm', 'icon']) };
}

function copied(element: Json, fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.filter((field) => element[field] !== undefined).map((f) => [f, element[f]]),
  );
}
