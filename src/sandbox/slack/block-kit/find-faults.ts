import { z } from 'zod';
import { listElements } from '../entered.ts';
import { isJson, objectsIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { anyBlock } from './blocks.ts';
import { plainText, string, textLength, typed } from './elements.ts';
import { type BlockKitFault, findSchemaFaults } from './fault.ts';
import { LIMITS, SURFACES, type Surface } from './limits.ts';

/** Finds everything in a message that Slack would refuse (Block Kit reference); empty: it may be sent. */
export function findMessageFaults({ text, blocks }: { text?: unknown; blocks?: unknown }): BlockKitFault[] {
  const content = { text, blocks };
  return [
    ...findSchemaFaults(message, content),
    ...findBlockFaults(content, 'message'),
    ...findTotalFaults(content),
  ];
}

/** Finds everything in a modal or home view that Slack would refuse; empty: it may be opened. */
export function findViewFaults(view: unknown): BlockKitFault[] {
  const surface = isJson(view) && view.type === 'home' ? 'home' : 'modal';
  const faults = findSchemaFaults(surface === 'home' ? home : modal, view);
  if (!isJson(view)) return faults;
  faults.push(...findBlockFaults(view, surface), ...findTableFaults(view));
  const hasInput = objectsIn(view, 'blocks').some(({ type }) => type === 'input');
  if (surface === 'modal' && !view.submit && hasInput)
    faults.push({ path: '/submit', rule: 'submit_required', words: 'a modal with inputs needs submit' });
  const bytes = Buffer.byteLength(JSON.stringify(view));
  if (bytes > LIMITS.viewBytes)
    faults.push({ path: '', rule: 'too_large', words: `has ${bytes} bytes; at most ${LIMITS.viewBytes}` });
  return faults;
}

const message = z.object({
  text: string(LIMITS.messageText).optional(),
  blocks: z.array(anyBlock).max(LIMITS.messageBlocks).optional(),
});

const viewFields = {
  private_metadata: string(LIMITS.privateMetadata),
  callback_id: string(LIMITS.id),
};

const blocks = z.array(anyBlock).max(LIMITS.viewBlocks);
const title = plainText(LIMITS.viewTitle);
const home = typed('home', { blocks }, viewFields);

const modal = typed('modal', { title, blocks }, { ...viewFields, submit: title, close: title });

/** Finds the blocks that the surface does not take, and the ids that are used twice. */
function findBlockFaults(holder: Json, surface: Surface): BlockKitFault[] {
  const allowed: readonly string[] = SURFACES[surface];
  const refused = objectsIn(holder, 'blocks').flatMap(({ type }, index) => {
    if (!KNOWN_BLOCKS.has(String(type)) || allowed.includes(String(type))) return [];
    return fault(`/blocks/${index}`, 'not_allowed_here', `${String(type)} can't be in a ${surface}`);
  });
  const blocks = Array.isArray(holder.blocks) ? holder.blocks : [];
  const blockIds = blocks.map((block) => (isJson(block) ? block.block_id : undefined));
  return [
    ...refused,
    ...findDuplicates(blockIds, 'block_id', '/blocks'),
    ...blocks.flatMap((block, at) => {
      const actionIds = listElements(isJson(block) ? [block] : []).map(({ actionId }) => actionId);
      return findDuplicates(actionIds, 'action_id', `/blocks/${at}`);
    }),
  ];
}

const KNOWN_BLOCKS = new Set<string>(Object.values(SURFACES).flat());

function findDuplicates(ids: readonly unknown[], what: string, path: string): BlockKitFault[] {
  const repeated = ids.filter((id, index) => typeof id === 'string' && ids.indexOf(id) !== index);
  return [...new Set(repeated)].flatMap((id) =>
    fault(path, 'duplicate_id', `${what} ${JSON.stringify(id)} is used twice`),
  );
}

/** Finds what is too much for one message as a whole. */
function findTotalFaults(message: Json): BlockKitFault[] {
  const blocks = objectsIn(message, 'blocks');
  const others = blocks.filter(({ type }) => type !== 'data_table');
  const charts = blocks.filter(({ type }) => type === 'data_visualization').length;
  const most = LIMITS.dataVisualizations;
  return [
    ...findTableFaults(message),
    ...findBudgetFaults('other blocks', others, LIMITS.messageTextRefused - 1),
    ...(charts > most
      ? fault('/blocks', 'too_many', `has ${charts} data_visualization blocks; at most ${most}`)
      : []),
  ];
}

/** Finds tables that are too much together, in a message or a view. */
function findTableFaults(holder: Json): BlockKitFault[] {
  const tables = objectsIn(holder, 'blocks').filter(({ type }) => type === 'data_table');
  const cells = tables.map(({ rows }) => rows);
  return findBudgetFaults('cells of data tables', cells, LIMITS.dataTableText);
}

function findBudgetFaults(what: string, parts: unknown, max: number): BlockKitFault[] {
  const characters = textLength(parts);
  if (characters <= max) return [];
  return fault('/blocks', 'text_budget', `all ${what} have ${characters} characters; at most ${max}`);
}

function fault(path: string, rule: BlockKitFault['rule'], words: string): BlockKitFault[] {
  return [{ path, rule, words }];
}
