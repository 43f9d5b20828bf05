import { z } from 'zod';
import { isJson, objectsIn } from '../json.ts';
import { anyBlock } from './blocks.ts';
import { plainText } from './composition.ts';
import { type BlockKitFault, findSchemaFaults } from './fault.ts';
import { LIMITS } from './limits.ts';
import { string, typed } from './object.ts';
import { findBlockFaults, findTableFaults, findTotalFaults } from './surface-rules.ts';

export type { BlockKitFault } from './fault.ts';

/** What the rules are about in a message; any typed message fits. */
export interface MessageLike {
  readonly text?: unknown;
  readonly blocks?: unknown;
}

const message = z.object({
  text: string(LIMITS.messageText).optional(),
  blocks: z.array(anyBlock).max(LIMITS.messageBlocks).optional(),
});

const viewFields = {
  private_metadata: string(LIMITS.privateMetadata),
  callback_id: string(LIMITS.id),
  external_id: string(LIMITS.id),
};
const blocks = z.array(anyBlock).max(LIMITS.viewBlocks);
const title = plainText(LIMITS.viewTitle);

const home = typed('home', { blocks }, viewFields);
const modal = typed(
  'modal',
  { title, blocks },
  { ...viewFields, submit: title, close: title, clear_on_close: z.boolean(), notify_on_close: z.boolean() },
);

/** Finds everything in a message that Slack would refuse (Block Kit reference); empty: it may be sent. */
export function findMessageFaults({ text, blocks }: MessageLike): BlockKitFault[] {
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
  if (surface === 'modal' && !view.submit && hasInput(view))
    faults.push({ path: '/submit', rule: 'submit_required', words: 'a modal with inputs needs submit' });
  const bytes = Buffer.byteLength(JSON.stringify(view));
  if (bytes > LIMITS.viewBytes)
    faults.push({ path: '', rule: 'too_large', words: `has ${bytes} bytes; at most ${LIMITS.viewBytes}` });
  return faults;
}

function hasInput(holder: unknown): boolean {
  const blocks = [...objectsIn(holder, 'blocks'), ...objectsIn(holder, 'child_blocks')];
  return blocks.some((block) => block.type === 'input' || hasInput(block));
}
