import type { Ids } from './ids.ts';
import { isJson } from './json.ts';
import type { Json } from './page-api.ts';

/** Copies blocks and gives those without block_id, and elements without action_id, one of Slack's own. */
export function nameBlocks(blocks: unknown, ids: Ids): Json[] {
  const list = Array.isArray(blocks) ? blocks.filter(isJson) : [];
  return structuredClone(list).map((block) => nameBlock(block, ids));
}

function nameBlock(block: Json, ids: Ids): Json {
  const named: Json = { ...block, block_id: block.block_id ?? ids.secret().slice(0, 5) };
  for (const field of ['elements', 'actions'] as const) {
    const list = block[field];
    if (Array.isArray(list)) named[field] = list.map((each) => nameElement(each, ids));
  }
  for (const field of ['accessory', 'element'] as const) {
    if (block[field]) named[field] = nameElement(block[field], ids);
  }
  if (Array.isArray(block.child_blocks)) named.child_blocks = nameBlocks(block.child_blocks, ids);
  return named;
}

const SILENT = new Set(['image', 'plain_text', 'mrkdwn', 'card']);

function nameElement(element: unknown, ids: Ids): unknown {
  if (!isJson(element)) return element;
  const type = String(element.type);
  const isRichTextPart = type.startsWith('rich_text_') && type !== 'rich_text_input';
  if (SILENT.has(type) || isRichTextPart) return element;
  return { ...element, action_id: element.action_id ?? ids.secret().slice(0, 5) };
}

/** An interactive element, and the block that it is in. */
export interface PlacedElement {
  readonly block: Json;
  readonly element: Json;
  readonly blockId: string;
  readonly actionId: string;
}

/** All interactive elements of blocks, in order. */
export function listElements(blocks: readonly Json[]): readonly PlacedElement[] {
  return blocks.flatMap((block) => {
    const lists = [block.elements, block.actions].flatMap((list) => (Array.isArray(list) ? list : []));
    const own = [...lists, block.accessory, block.element]
      .filter(isJson)
      .filter((element) => typeof element.action_id === 'string')
      .map((element) => ({
        block,
        element,
        blockId: String(block.block_id),
        actionId: String(element.action_id),
      }));
    const children = Array.isArray(block.child_blocks) ? listElements(block.child_blocks.filter(isJson)) : [];
    return [...own, ...children];
  });
}

/** Finds the element with these two ids. */
export function findElement(
  blocks: readonly Json[],
  blockId: string,
  actionId: string,
): PlacedElement | undefined {
  return listElements(blocks).find((each) => each.blockId === blockId && each.actionId === actionId);
}
