import type { AnyBlock, ModalView } from '@slack/types';
import { plain } from './blocks.ts';
import { LIMITS } from './limits.ts';
import type { Origin } from './origin.ts';
import { shorten } from './text.ts';

/** A modal that shows a card with buttons and has nothing to submit; what they bring about is shown in the same modal. */
export const CARD_VIEW = 'card';

/** What stays below the card, whatever the buttons show in its place; notices stand above it until the next press. */
const KEPT = 'kept:';
const NOTICE = 'notice:';

/** What a card's modal shows, from top to bottom. */
export interface CardParts {
  readonly notices?: readonly AnyBlock[];
  readonly blocks: readonly AnyBlock[];
  readonly kept?: readonly AnyBlock[];
}

/** Slack takes this many blocks in a view; what is too much goes from the notices' end. */
const MOST_BLOCKS = 100;

/** Makes the modal. `metadata`: an origin, or what such a modal carried before. */
export function cardView(title: string, metadata: Origin | string, parts: CardParts): ModalView {
  const { notices = [], blocks, kept = [] } = parts;
  const room = Math.max(0, MOST_BLOCKS - blocks.length - kept.length);
  return {
    type: 'modal',
    callback_id: CARD_VIEW,
    private_metadata: typeof metadata === 'string' ? metadata : JSON.stringify({ o: metadata, m: {} }),
    title: plain(shorten(title, LIMITS.viewTitle)),
    close: plain('Close'),
    blocks: [...mark(NOTICE, notices.slice(0, room)), ...blocks, ...mark(KEPT, kept)],
  };
}

/** Takes the blocks of such a modal apart again; notices of earlier presses are dropped. */
export function readCard(blocks: readonly AnyBlock[]): Required<Pick<CardParts, 'blocks' | 'kept'>> {
  const isMarked = (prefix: string) => (block: AnyBlock) => block.block_id?.startsWith(prefix) === true;
  return {
    blocks: blocks.filter((block) => !isMarked(NOTICE)(block) && !isMarked(KEPT)(block)),
    kept: blocks.filter(isMarked(KEPT)),
  };
}

function mark(prefix: string, blocks: readonly AnyBlock[]): AnyBlock[] {
  return blocks.map((block, at) => ({ ...block, block_id: `${prefix}${at}` }));
}
