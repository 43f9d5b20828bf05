import { type Ack, expectEmptyAck, readAck, sendInteraction, TROUBLE } from '../acks.ts';
import { interactive } from '../block-kit/elements.ts';
import { findSchemaFaults } from '../block-kit/fault.ts';
import type { Delivery } from '../deliver.ts';
import { enter, isStateful, optionsOf, type PlacedElement, stateOf } from '../entered.ts';
import { objectIn, objectsIn } from '../json.ts';
import type { AtElement, Entered, Json } from '../page-api.ts';
import { actionPayload, suggestionPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { Place } from '../views.ts';
import { SLACKBOT, type User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkPicker, enteredAt, getElement, getPlace, offerKey } from './places.ts';

interface Act extends AtElement {
  readonly value?: Entered;
  readonly confirmed?: boolean;
}

/**
 * A user presses a button or chooses from a menu; the app gets block_actions.
 * @throws SlackRefusal confirm_needed, not_an_option, no_such_element, message_not_found, view_closed, not_interactive
 */
export async function press(world: World, user: User, act: Act): Promise<Delivery> {
  const place = getPlace(world, user, act.place);
  const at = getElement(place, act.block, act.action);
  if (objectIn(at.element, 'confirm') && act.confirmed !== true)
    throw new SlackRefusal('confirm_needed', 'This asks for a confirmation first');
  const action = actionOf(world, user, place, at, act.value ?? null);
  return dispatch(world, user, place, action);
}

/**
 * A user enters something into an input, which the app is not told; in any other block, it is a press.
 * @throws SlackRefusal not_an_option, no_such_element, view_closed
 */
export async function fill(world: World, user: User, act: Act): Promise<Delivery | undefined> {
  const place = getPlace(world, user, act.place);
  const at = getElement(place, act.block, act.action);
  if (at.block.type !== 'input') return press(world, user, act);
  actionOf(world, user, place, at, act.value ?? null);
  return undefined;
}

async function dispatch(world: World, user: User, place: Place, action: Json): Promise<Delivery> {
  const payload = actionPayload(world, user, place, action);
  const delivery = await sendInteraction(world, `block_actions ${String(action.action_id)}`, payload);
  const ack = readAck(world, delivery);
  expectEmptyAck(world, delivery.what, ack);
  if (ack.ok) return delivery;
  if ('hash' in place) world.views.complain(place, {}, TROUBLE);
  else world.messages.post({ channel: place.channel, user: SLACKBOT, text: TROUBLE, to: user.id });
  return delivery;
}

function actionOf(world: World, user: User, place: Place, at: PlacedElement, value: Entered): Json {
  const { element } = at;
  const ids = { type: element.type, block_id: at.blockId, action_id: at.actionId };
  if (isStateful(element)) {
    const entered = enteredAt(place, user);
    checkPicker(world, user, element, value);
    enter(at, value, entered, world.offered.get(offerKey(user, place, at)));
    return { ...ids, ...stateOf(at, entered), ...copied(element, ['placeholder', 'confirm']) };
  }
  return { ...ids, ...copied(element, ['text', 'value', 'url', 'style', 'confirm']) };
}

function copied(element: Json, fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.filter((field) => element[field] !== undefined).map((f) => [f, element[f]]),
  );
}

/** Slack's default for external selects. */
const MIN_QUERY_LENGTH = 3;

/**
 * A user types into an external select; the app is asked for the options.
 * @throws SlackRefusal no_such_element, not_external, query_too_short, no_options, not_interactive
 */
export async function suggest(world: World, user: User, where: AtElement, query: string) {
  const place = getPlace(world, user, where.place);
  const at = getElement(place, where.block, where.action);
  if (at.element.type !== 'external_select')
    throw new SlackRefusal('not_external', 'Only external selects ask the app');
  const min =
    typeof at.element.min_query_length === 'number' ? at.element.min_query_length : MIN_QUERY_LENGTH;
  if (query.length < min)
    throw new SlackRefusal('query_too_short', `At least ${min} characters must be typed`);
  if (!world.app.hasMenuOptions)
    throw new SlackRefusal('no_options', 'This app has no address that Slack could ask for options');
  const typed = { block_id: at.blockId, action_id: at.actionId, value: query };
  const payload = suggestionPayload(world, user, place, typed);
  const delivery = await sendInteraction(world, `block_suggestion ${at.actionId}`, payload);
  const offer = readOffer(world, delivery.what, readAck(world, delivery));
  const options = optionsOf({ options: offer.options, option_groups: offer.optionGroups });
  world.offered.set(offerKey(user, place, at), options);
  return offer;
}

function readOffer(world: World, what: string, ack: Ack) {
  if (!ack.ok) throw new SlackRefusal('no_options', 'The app gave no options');
  const given = ack.body ?? {};
  if (!Array.isArray(given.options) && !Array.isArray(given.option_groups)) {
    world.journal.breakRule('bad_ack', `${what}: the ack must have options or option_groups`);
    throw new SlackRefusal('no_options', 'The app gave no options');
  }
  const faults = findOfferFaults(given);
  for (const fault of faults) world.journal.breakRule('limits', `${what}: ${fault}`);
  if (faults.length > 0) throw new SlackRefusal('no_options', 'Slack refused the app’s options');
  return { options: objectsIn(given, 'options'), optionGroups: objectsIn(given, 'option_groups') };
}

/** Offered options follow the rules of a static select, but an empty list is valid. */
function findOfferFaults(given: Json): readonly string[] {
  const lists = [given.options, given.option_groups].filter(Array.isArray);
  if (lists.every((list) => list.length === 0)) return [];
  const { options, option_groups } = given;
  const element = {
    type: 'static_select',
    action_id: 'offer',
    ...(options ? { options } : { option_groups }),
  };
  return findSchemaFaults(interactive, element).map(({ path, words }) => `${path} ${words}`);
}
