import { objectIn, objectsIn, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { renderMrkdwn } from './mrkdwn.ts';
import type { Surroundings } from './names.ts';

/** Renders a text object: mrkdwn as read, plain text as it is. */
export function renderText(text: unknown, around: Surroundings): string {
  const words = textIn(text, 'text');
  return textIn(text, 'type') === 'mrkdwn' ? renderMrkdwn(words, around) : words;
}

/** Renders an interactive element with what is entered into it. */
export function renderElement(element: Json, state: Json, around: Surroundings): string {
  const type = String(element.type);
  if (type === 'image') return `(image: ${textIn(element, 'alt_text')})`;
  if (type === 'overflow') return `[… ${optionTexts(element, around).join(' / ')}]`;
  if (type.includes('button') && type !== 'radio_buttons') return `[${textIn(element.text, 'text')}]`;
  if (type === 'radio_buttons' || type === 'checkboxes') return renderChoices(element, state, around);
  const shown = enteredText(state, around) || renderText(element.placeholder, around);
  return type.includes('select') ? `[${shown} ▾]` : `[${shown}]`;
}

/** The texts of the options of an element, those of its groups too. */
function optionTexts(element: Json, around: Surroundings): readonly string[] {
  const groups = objectsIn(element, 'option_groups').flatMap((group) => objectsIn(group, 'options'));
  return [...objectsIn(element, 'options'), ...groups].map((option) => renderText(option.text, around));
}

function renderChoices(element: Json, state: Json, around: Surroundings): string {
  const chosen = [objectIn(state, 'selected_option'), ...objectsIn(state, 'selected_options')].map(
    (option) => option?.value,
  );
  return objectsIn(element, 'options')
    .map((option) => `${chosen.includes(option.value) ? '(x)' : '( )'} ${describeOption(option, around)}`)
    .join('\n');
}

function describeOption(option: Json, around: Surroundings): string {
  const description = renderText(option.description, around);
  return description
    ? `${renderText(option.text, around)} – ${description}`
    : renderText(option.text, around);
}

function enteredText(state: Json, around: Surroundings): string {
  const options = [objectIn(state, 'selected_option'), ...objectsIn(state, 'selected_options')];
  const texts = options
    .filter((option) => option !== undefined)
    .map((option) => describeOption(option, around));
  if (texts.length > 0) return texts.join(', ');
  return Object.entries(state)
    .filter(([field, value]) => field !== 'type' && (typeof value === 'string' || typeof value === 'number'))
    .map(([, value]) => String(value))
    .join(', ');
}
