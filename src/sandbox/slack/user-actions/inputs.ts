import { listElements } from '../block-ids.ts';
import { LIMITS } from '../block-kit/limits.ts';
import { isEmpty, isTextInput, stateOf } from '../entered.ts';
import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import type { StoredView } from '../views.ts';

/** Finds the inputs that Slack's client would not let through, by block_id. */
export function findInputFaults(view: StoredView): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {};
  for (const placed of listElements(view.blocks)) {
    if (placed.block.type !== 'input') continue;
    const state = stateOf(placed, view.entered);
    const words = isEmpty(state)
      ? placed.block.optional === true
        ? undefined
        : 'Please complete this required field.'
      : isTextInput(placed.element)
        ? describeTextFault(placed.element, textIn(state, 'value'))
        : undefined;
    if (words) faults[placed.blockId] = words;
  }
  return faults;
}

function describeTextFault(element: Json, text: string): string | undefined {
  const max = typeof element.max_length === 'number' ? element.max_length : LIMITS.inputText;
  const min = typeof element.min_length === 'number' ? element.min_length : 0;
  if (text.length > max) return `Please use at most ${max} characters.`;
  if (text.length < min) return `Please use at least ${min} characters.`;
  if (element.type === 'plain_text_input') return undefined;
  return describeFormFault(element, text);
}

function describeFormFault(element: Json, text: string): string | undefined {
  if (element.type === 'email_text_input' && !/^\S+@\S+\.\S+$/.test(text))
    return 'Please enter an e-mail address.';
  if (element.type === 'url_text_input' && !/^https?:\/\/\S+$/.test(text)) return 'Please enter an address.';
  if (element.type !== 'number_input') return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) return 'Please enter a whole number.';
  if (textIn(element, 'min_value') !== '' && number < Number(element.min_value))
    return `Please enter at least ${String(element.min_value)}.`;
  if (textIn(element, 'max_value') !== '' && number > Number(element.max_value))
    return `Please enter at most ${String(element.max_value)}.`;
  return undefined;
}
