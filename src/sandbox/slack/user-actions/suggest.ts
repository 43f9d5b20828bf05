import { type Ack, readAck } from '../acks.ts';
import { findViewFaults } from '../block-kit/find-faults.ts';
import { optionsOf } from '../entered.ts';
import { sendInteraction } from '../interactions.ts';
import { objectsIn } from '../json.ts';
import type { Json, PagePlace } from '../page-api.ts';
import { suggestionPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { getElement, getPlace, rememberOffer } from './places.ts';

/** Slack's default for external selects. */
const MIN_QUERY_LENGTH = 3;

export interface Suggestions {
  readonly options: readonly Json[];
  readonly optionGroups: readonly Json[];
}

/**
 * A user types into an external select; the app is asked for the options.
 * @throws SlackRefusal no_such_element, not_external, query_too_short, no_options, not_interactive
 */
export async function suggest(
  world: World,
  user: User,
  where: { readonly place: PagePlace; readonly block: string; readonly action: string },
  query: string,
): Promise<Suggestions> {
  const place = getPlace(world, user, where.place);
  const at = getElement(place, where.block, where.action);
  if (!['external_select', 'multi_external_select'].includes(String(at.element.type)))
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
  rememberOffer(
    world,
    user,
    place,
    at,
    optionsOf({ options: offer.options, option_groups: offer.optionGroups }),
  );
  return offer;
}

function readOffer(world: World, what: string, ack: Ack): Suggestions {
  if (!ack.ok) throw new SlackRefusal('no_options', 'The app gave no options');
  const given = ack.body ?? {};
  if (!Array.isArray(given.options) && !Array.isArray(given.option_groups)) {
    world.journal.breakRule('bad_ack', `${what}: the ack must have options or option_groups`);
    throw new SlackRefusal('no_options', 'The app gave no options');
  }
  const faults = findOfferFaults(given);
  for (const fault of faults) world.journal.breakRule('limits', `${what}: ${fault}`);
  if (faults.length > 0) throw new SlackRefusal('no_options', 'Slack refused the options of the app');
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
  const view = {
    type: 'modal',
    title: { type: 'plain_text', text: 'Offer' },
    blocks: [{ type: 'actions', block_id: 'offer', elements: [element] }],
  };
  return findViewFaults(view).map(
    (fault) => `${fault.path.replace('/blocks/0/elements/0', '')} ${fault.words}`,
  );
}
