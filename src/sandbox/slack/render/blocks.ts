import { type EnteredValues, stateOf } from '../entered.ts';
import { isJson, objectsIn, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { renderChart } from './chart.ts';
import { renderElement, renderText } from './elements.ts';
import { renderMrkdwn } from './mrkdwn.ts';
import type { Surroundings } from './names.ts';
import { renderRichText } from './rich-text.ts';

export interface Rendering {
  readonly around: Surroundings;
  readonly entered: EnteredValues;
  readonly errors: Readonly<Record<string, string>>;
}

type Renderer = (block: Json, rendering: Rendering) => string;

/** Renders blocks as the text that a reader sees. */
export function renderBlocks(blocks: readonly Json[], rendering: Rendering): string {
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
  table: renderTable,
  card: (block, rendering) =>
    lines(
      ...[block.title, block.subtitle, block.body].map((text) => renderText(text, rendering.around)),
      ...objectsIn(block, 'actions').map((button) => inBlock(block, button, rendering)),
    ),
  carousel: (block, rendering) => renderBlocks(objectsIn(block, 'elements'), rendering),
  container: (block, rendering) =>
    lines(
      renderText(block.title, rendering.around),
      isJson(block.rich_text_title) ? renderRichText(block.rich_text_title, rendering.around) : '',
      renderText(block.subtitle, rendering.around),
      renderBlocks(objectsIn(block, 'child_blocks'), rendering),
    ),
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
