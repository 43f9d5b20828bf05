import { type EnteredValues, stateOf } from '../../../src/sandbox/slack/entered.ts';
import { isJson, objectIn, objectsIn, textIn } from '../../../src/sandbox/slack/json.ts';
import { enteredBy, type StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { pageMessage, pageView } from '../../../src/sandbox/slack/page.ts';
import type { Json, PageMessage, PageView } from '../../../src/sandbox/slack/page-api.ts';
import type { StoredView } from '../../../src/sandbox/slack/views.ts';
import { SLACKBOT, type User } from '../../../src/sandbox/slack/workspace.ts';
import type { World } from '../../../src/sandbox/slack/world.ts';
import { renderMrkdwn, type Surroundings } from './mrkdwn.ts';

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
    const seen = {
      ...pageMessage(world, message, user),
      heading: renderAuthor(world, message),
      shown: renderMessage(world, message, user),
    };
    known.set(message, { at, seen });
    return seen;
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
  const body = renderBlocks(view.blocks, { around: world, entered: view.entered, errors: view.errors });
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
  const shown = { around: world, entered: enteredBy(message, user.id), errors: {} };
  const content =
    message.blocks.length === 0 ? renderMrkdwn(message.text, world) : renderBlocks(message.blocks, shown);
  return lines(content, ...message.attachments.map((each) => renderAttachment(each, world)));
}

/** The line above a message. */
function renderAuthor(world: World, message: StoredMessage): string {
  const known = world.roster.findUser(message.user)?.name;
  const name = message.user === SLACKBOT ? 'Slackbot' : (known ?? message.user);
  return `${name}${message.to === undefined ? '' : ' (only visible to you)'}${message.edited ? ' (edited)' : ''}:`;
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
  divider: () => '———',
  rich_text: renderPreformatted,
  section: (block, rendering) => {
    const texts = [block.text, ...objectsIn(block, 'fields')].map((text) =>
      renderText(text, rendering.around),
    );
    return lines(...texts, inBlock(block, block.accessory, rendering));
  },
  context: (block, { around }) =>
    objectsIn(block, 'elements')
      .map((each) => renderText(each, around))
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

/** Renders a `rich_text` block, which the app uses for preformatted text alone. */
function renderPreformatted(block: Json): string {
  return objectsIn(block, 'elements')
    .map((part) =>
      objectsIn(part, 'elements')
        .map((text) => textIn(text, 'text'))
        .join(''),
    )
    .join('\n');
}

function renderTable(block: Json): string {
  const rows = Array.isArray(block.rows) ? block.rows : [];
  const written = rows.map((row: readonly unknown[]) => row.map((cell) => textIn(cell, 'text')).join(' | '));
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
  if (element.type === 'button') return `[${textIn(element.text, 'text')}]`;
  const shown = enteredText(state, around) || renderText(element.placeholder, around);
  return String(element.type).endsWith('_select') ? `[${shown} ▾]` : `[${shown}]`;
}

function describeOption(option: Json, around: Surroundings): string {
  const description = renderText(option.description, around);
  return description
    ? `${renderText(option.text, around)} – ${description}`
    : renderText(option.text, around);
}

function enteredText(state: Json, around: Surroundings): string {
  const option = objectIn(state, 'selected_option');
  if (option) return describeOption(option, around);
  const [value] = Object.entries(state).flatMap(([field, each]) => (field === 'type' ? [] : [each]));
  return typeof value === 'string' ? value : '';
}

/** Renders a chart as the numbers that it draws. */
function renderChart(block: Json): string {
  const [series = {}] = objectsIn(objectIn(block, 'chart'), 'series');
  const points = objectsIn(series, 'data').map((point) => `${textIn(point, 'label')} ${String(point.value)}`);
  return `${textIn(block, 'title')} (chart)\n${textIn(series, 'name')}: ${points.join(', ')}`;
}

/** Renders what an alert of another app shows: title, text and fields, or its fallback if it has none of them. */
function renderAttachment(attachment: Json, around: Surroundings): string {
  const fields = objectsIn(attachment, 'fields').map(
    (field) => `${textIn(field, 'title')}: ${textIn(field, 'value')}`,
  );
  const words = lines(textIn(attachment, 'title'), textIn(attachment, 'text'), ...fields);
  return renderMrkdwn(words || textIn(attachment, 'fallback'), around).replace(/^/gm, '│ ');
}
