import { type EnteredValues, stateOf } from '../../../src/sandbox/slack/entered.ts';
import { isJson, objectIn, objectsIn, textIn } from '../../../src/sandbox/slack/json.ts';
import type { Surroundings } from '../../../src/sandbox/slack/mentions.ts';
import { enteredBy, type StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { pageMessage, pageView } from '../../../src/sandbox/slack/page.ts';
import type { Json, PageMessage, PageView } from '../../../src/sandbox/slack/page-api.ts';
import type { StoredView } from '../../../src/sandbox/slack/views.ts';
import { SLACKBOT, type User } from '../../../src/sandbox/slack/workspace.ts';
import type { World } from '../../../src/sandbox/slack/world.ts';
import { renderMrkdwn, renderRichText } from './mrkdwn.ts';

const MINUTE_MS = 60_000;

/** A message as a user sees it. */
export interface SeenMessage extends PageMessage {
  /** "vps (only visible to you):" */
  readonly heading: string;
  /** The blocks (or without any the text) as read. */
  readonly shown: string;
}

/** A modal or home tab as a user sees it. */
export interface SeenView extends PageView {
  readonly shown: string;
}

/**
 * Looks at messages as this user. A wait looks at the whole screen after every event, so what can't look different now
 * is not rendered again.
 */
export function createSight(world: World, user: User): (message: StoredMessage) => SeenMessage {
  const known = new WeakMap<StoredMessage, { readonly at: string; readonly seen: SeenMessage }>();
  return (message) => {
    const at = `${world.roster.edition} ${Math.floor(world.clock.now() / MINUTE_MS)}`;
    const before = known.get(message);
    if (before?.at === at && !message.entered.get(user.id)?.size) return before.seen;
    const seen = seeMessage(world, message, user);
    known.set(message, { at, seen });
    return seen;
  };
}

function seeMessage(world: World, message: StoredMessage, user: User): SeenMessage {
  return {
    ...pageMessage(world, message, user),
    heading: renderAuthor(world, message),
    shown: renderMessage(world, message, user),
  };
}

export function seeView(world: World, view: StoredView): SeenView {
  return { ...pageView(view), shown: renderView(world, view) };
}

/** Compares texts without regard to line breaks and indentation. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A modal or home tab as text: title, blocks, buttons. */
function renderView(world: World, view: StoredView): string {
  const around = surroundingsOf(world);
  const body = renderBlocks(view.blocks, { around, entered: view.entered, errors: view.errors });
  const close = textIn(view.fields.close, 'text') || 'Cancel';
  const buttons = [close, textIn(view.fields.submit, 'text')]
    .filter((text) => text !== '')
    .map((text) => `[${text}]`);
  const isModal = view.type === 'modal';
  return [
    isModal ? textIn(view.fields.title, 'text') : '',
    body,
    view.trouble ? `! ${view.trouble}` : '',
    isModal ? buttons.join(' ') : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** What a reader sees of a message: its blocks, or without any its text. */
function renderMessage(world: World, message: StoredMessage, user: User): string {
  const around = surroundingsOf(world);
  const shown = { around, entered: enteredBy(message, user.id), errors: {} };
  const content =
    message.blocks.length === 0 ? renderMrkdwn(message.text, around) : renderBlocks(message.blocks, shown);
  if (message.attachments.length === 0) return content;
  return [content, renderAttachments(message.attachments, shown)].filter((part) => part !== '').join('\n');
}

/** The line above a message. */
function renderAuthor(world: World, message: StoredMessage): string {
  const known = world.roster.findUser(message.user)?.name;
  const name = message.user === SLACKBOT ? 'Slackbot' : (known ?? message.user);
  return `${name}${message.to === undefined ? '' : ' (only visible to you)'}${message.edited ? ' (edited)' : ''}:`;
}

function surroundingsOf({ channels, roster, clock }: World): Surroundings {
  return { channels, roster, now: clock.now() };
}

interface Rendering {
  readonly around: Surroundings;
  readonly entered: EnteredValues;
  readonly errors: Readonly<Record<string, string>>;
}

type Renderer = (block: Json, rendering: Rendering) => string;

/** Renders blocks as the text that a reader sees. */
function renderBlocks(blocks: readonly Json[], rendering: Rendering): string {
  return blocks.map((block) => (RENDERERS[String(block.type)] ?? renderUnknown)(block, rendering)).join('\n');
}

const textOf: Renderer = (block, { around }) => renderText(block.text, around);

const RENDERERS: Readonly<Record<string, Renderer>> = {
  header: textOf,
  alert: (block, rendering) => `[!] ${textOf(block, rendering)}`,
  divider: () => '———',
  markdown: (block, { around }) => renderMrkdwn(textIn(block, 'text'), around),
  rich_text: (block, { around }) => renderRichText(block, around),
  image: (block, { around }) => `(image: ${renderText(block.title, around) || textIn(block, 'alt_text')})`,
  section: (block, rendering) => {
    const texts = [block.text, ...objectsIn(block, 'fields')].map((text) =>
      renderText(text, rendering.around),
    );
    return lines(...texts, inBlock(block, block.accessory, rendering));
  },
  context: (block, { around }) =>
    objectsIn(block, 'elements')
      .map((each) => (each.type === 'image' ? textIn(each, 'alt_text') : renderText(each, around)))
      .join(' '),
  actions: (block, rendering) =>
    objectsIn(block, 'elements')
      .map((element) => inBlock(block, element, rendering))
      .join(' '),
  input: (block, rendering) => {
    const { around, errors } = rendering;
    const optional = block.optional === true ? ' (optional)' : '';
    const error = errors[String(block.block_id)];
    return lines(
      `${renderText(block.label, around)}${optional}: ${inBlock(block, block.element, rendering)}`,
      renderText(block.hint, around),
      error ? `! ${error}` : '',
    );
  },
  data_table: renderTable,
  data_visualization: renderChart,
};

function renderUnknown(block: Json): string {
  return `(${String(block.type)})`;
}

function renderTable(block: Json, { around }: Rendering): string {
  const rows = Array.isArray(block.rows) ? block.rows : [];
  const written = rows.map((row: unknown) =>
    (Array.isArray(row) ? row : [])
      .filter(isJson)
      .map((cell) => (cell.type === 'rich_text' ? renderRichText(cell, around) : textIn(cell, 'text')))
      .join(' | '),
  );
  return lines(textIn(block, 'caption'), ...written);
}

function inBlock(block: Json, element: unknown, { around, entered }: Rendering): string {
  if (!isJson(element)) return '';
  const placed = { block, element, blockId: String(block.block_id), actionId: String(element.action_id) };
  return renderElement(element, stateOf(placed, entered), around);
}

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

/** Renders a text object: mrkdwn as read, plain text as it is. */
function renderText(text: unknown, around: Surroundings): string {
  const words = textIn(text, 'text');
  return textIn(text, 'type') === 'mrkdwn' ? renderMrkdwn(words, around) : words;
}

/** Renders an interactive element with what is entered into it. */
function renderElement(element: Json, state: Json, around: Surroundings): string {
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

/** Renders a chart as the numbers that it draws. */
function renderChart(block: Json): string {
  const chart = objectIn(block, 'chart') ?? {};
  const segments = objectsIn(chart, 'segments');
  const series = objectsIn(chart, 'series').map(
    (each) => `${textIn(each, 'name')}: ${points(objectsIn(each, 'data'))}`,
  );
  const lines = segments.length > 0 ? [points(segments)] : series;
  return [`${textIn(block, 'title')} (chart)`, ...lines].join('\n');
}

function points(all: readonly Json[]): string {
  return all.map((point) => `${textIn(point, 'label')} ${String(point.value)}`).join(', ');
}

/** Attachments as text: what Slack shows of them, and the fallback of one that has nothing else. */
function renderAttachments(attachments: readonly Json[], rendering: Rendering): string {
  return attachments.map((each) => renderAttachment(each, rendering)).join('\n');
}

function renderAttachment(attachment: Json, rendering: Rendering): string {
  const fields = listOf(attachment.fields).map(
    (field) => `${textIn(field, 'title')}: ${textIn(field, 'value')}`,
  );
  const words = [
    ...['pretext', 'title', 'text'].map((name) => textIn(attachment, name)),
    ...fields,
    textIn(attachment, 'footer'),
  ].filter((text) => text !== '');
  const blocks = listOf(attachment.blocks);
  const lines = [
    ...words.map((text) => renderMrkdwn(text, rendering.around)),
    ...(blocks.length > 0 ? [renderBlocks(blocks, rendering)] : []),
  ];
  return (lines.length > 0 ? lines : [textIn(attachment, 'fallback')]).map((line) => `│ ${line}`).join('\n');
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
