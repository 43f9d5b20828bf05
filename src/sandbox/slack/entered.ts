import { isJson, objectsIn } from './json.ts';
import type { Entered, Json, PageValues } from './page-api.ts';
import { SlackRefusal } from './refusal.ts';
import type { Ids } from './world.ts';

/** What one user entered into one view or message: `blockId/actionId` -> Slack's state value. */
export type EnteredValues = Map<string, Json>;

/** An interactive element, and the block that it is in. */
export interface PlacedElement {
  readonly block: Json;
  readonly element: Json;
  readonly blockId: string;
  readonly actionId: string;
}

export function listElements(blocks: readonly Json[]): readonly PlacedElement[] {
  return blocks.flatMap((block) => {
    const listed = Array.isArray(block.elements) ? block.elements : [];
    return [...listed, block.accessory, block.element]
      .filter(isJson)
      .filter((element) => typeof element.action_id === 'string')
      .map((element) => ({
        block,
        element,
        blockId: String(block.block_id),
        actionId: String(element.action_id),
      }));
  });
}

/** Copies blocks and gives those without block_id, and elements without action_id, one of Slack's own. */
export function nameBlocks(blocks: unknown, ids: Ids): Json[] {
  const list = Array.isArray(blocks) ? blocks.filter(isJson) : [];
  return structuredClone(list).map((block) => nameBlock(block, ids));
}

function nameBlock(block: Json, ids: Ids): Json {
  const named: Json = { ...block, block_id: block.block_id ?? ids.secret().slice(0, 5) };
  if (Array.isArray(block.elements)) named.elements = block.elements.map((each) => nameElement(each, ids));
  for (const field of ['accessory', 'element'] as const) {
    if (block[field]) named[field] = nameElement(block[field], ids);
  }
  return named;
}

function nameElement(element: unknown, ids: Ids): unknown {
  if (!isJson(element)) return element;
  const isText = /^(?:plain_text|mrkdwn|rich_text_\w+)$/.test(String(element.type));
  if (isText) return element;
  return { ...element, action_id: element.action_id ?? ids.secret().slice(0, 5) };
}

/** For each stateful element: what it holds, in which state field, and from which initial field. */
const STATEFUL: Readonly<Record<string, readonly ['text' | 'option' | 'one', string, string]>> = {
  plain_text_input: ['text', 'value', 'initial_value'],
  static_select: ['option', 'selected_option', 'initial_option'],
  external_select: ['option', 'selected_option', 'initial_option'],
  users_select: ['one', 'selected_user', 'initial_user'],
  conversations_select: ['one', 'selected_conversation', 'initial_conversation'],
};

const keyOf = ({ blockId, actionId }: PlacedElement) => `${blockId}/${actionId}`;

/** Whether the element holds a value (buttons don't). */
export function isStateful(element: Json): boolean {
  return Object.hasOwn(STATEFUL, String(element.type));
}

export function isTextInput(element: Json): boolean {
  return STATEFUL[String(element.type)]?.[0] === 'text';
}

/** The value of one element as Slack's state has it: entered, else initial, else empty. */
export function stateOf(placed: PlacedElement, entered: EnteredValues): Json {
  const known = entered.get(keyOf(placed));
  if (known) return known;
  const { element } = placed;
  const [, field, initial] = STATEFUL[String(element.type)] ?? ['text', 'value', 'initial_value'];
  return { type: element.type, [field]: element[initial] ?? null };
}

/** `state.values` of all stateful elements. */
export function valuesOf(blocks: readonly Json[], entered: EnteredValues): PageValues {
  const values: Record<string, Record<string, Json>> = {};
  for (const placed of listElements(blocks)) {
    if (!isStateful(placed.element)) continue;
    const ofBlock = values[placed.blockId] ?? {};
    ofBlock[placed.actionId] = stateOf(placed, entered);
    values[placed.blockId] = ofBlock;
  }
  return values;
}

export function isEmpty(state: Json): boolean {
  const [, field] = STATEFUL[String(state.type)] ?? ['text', 'value'];
  const value = state[field];
  return value === null || value === undefined || value === '';
}

/**
 * Enters a value into an element. `offered` are the options an external select was given last.
 * @throws SlackRefusal not_an_option, wrong_value
 */
export function enter(
  placed: PlacedElement,
  value: Entered,
  entered: EnteredValues,
  offered: readonly Json[] = [],
): void {
  const { element } = placed;
  const [kind, field] = STATEFUL[String(element.type)] ?? ['text', 'value'];
  if (value !== null && typeof value !== 'string')
    throw new SlackRefusal('wrong_value', 'Only one value fits here');
  const chosen = kind === 'option' && value !== null ? optionFor(element, value, offered) : value;
  entered.set(keyOf(placed), { type: element.type, [field]: chosen });
}

/** Keeps what was entered only for elements that are still there, as Slack does on views.update. */
export function pruneEntered(blocks: readonly Json[], entered: EnteredValues): void {
  const present = new Set(listElements(blocks).map(keyOf));
  for (const key of [...entered.keys()]) if (!present.has(key)) entered.delete(key);
}

export function optionsOf(element: Json): readonly Json[] {
  const groups = objectsIn(element, 'option_groups').flatMap((group) => objectsIn(group, 'options'));
  return [...objectsIn(element, 'options'), ...groups];
}

/**
 * The option with that value, among those an element shows.
 * @throws SlackRefusal not_an_option
 */
function optionFor(element: Json, value: string, offered: readonly Json[]): Json {
  const initial = [element.initial_option].filter(isJson);
  const option = [...optionsOf(element), ...offered, ...initial].find((each) => each.value === value);
  if (!option) throw new SlackRefusal('not_an_option', `${JSON.stringify(value)} is not offered here`);
  return option;
}
