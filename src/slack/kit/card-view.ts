import type { AnyBlock, ModalView } from '@slack/types';
import { LIMITS, plain } from './blocks.ts';
import type { Origin } from './form.ts';
import { shorten } from './text.ts';

/** The `callback_id` of a modal that shows a card with buttons, which answer in the same modal. It has nothing to submit. */
export const CARD_VIEW = 'card';

/** The beginnings of block IDs: of what stays below the card, and of notices, which stay above it until the next press. */
const KEPT = 'kept:';
const NOTICE = 'notice:';

/** The parts of a card's modal, from top to bottom. */
export interface CardParts {
  readonly notices?: readonly AnyBlock[];
  readonly blocks: readonly AnyBlock[];
  readonly kept?: readonly AnyBlock[];
}

/**
 * Makes the modal of a card. `metadata`: an origin, or the metadata of the modal that it replaces. If there are too many blocks,
 * the last notices are left out.
 */
export function cardView(title: string, metadata: Origin | string, parts: CardParts): ModalView {
  const { notices = [], blocks, kept = [] } = parts;
  const room = Math.max(0, LIMITS.viewBlocks - blocks.length - kept.length);
  return {
    type: 'modal',
    callback_id: CARD_VIEW,
    private_metadata: typeof metadata === 'string' ? metadata : JSON.stringify({ o: metadata, m: {} }),
    title: plain(shorten(title, LIMITS.viewTitle)),
    close: plain('Close'),
    blocks: [...mark(NOTICE, notices.slice(0, room)), ...blocks, ...mark(KEPT, kept)],
  };
}

/** Splits the blocks of a card's modal into its parts; drops notices of earlier presses. */
export function readCard(blocks: readonly AnyBlock[]) {
  const isMarked = (prefix: string) => (block: AnyBlock) => block.block_id?.startsWith(prefix) === true;
  return {
    blocks: blocks.filter((block) => !isMarked(NOTICE)(block) && !isMarked(KEPT)(block)),
    kept: blocks.filter(isMarked(KEPT)),
  };
}

function mark(prefix: string, blocks: readonly AnyBlock[]): AnyBlock[] {
  return blocks.map((block, at) => ({ ...block, block_id: `${prefix}${at}` }));
}
