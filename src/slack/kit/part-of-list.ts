import type { AnyBlock, ContextBlock } from '@slack/types';
import { PART_OF_LIST } from '../../domain/part-of-list.ts';
import { context } from './blocks.ts';

/** Like a card's notices, it is removed from the card before the next answer is shown there. */
const BLOCK_ID = 'notice:part_of_list';

/** Says that servers may be missing. */
export function partOfList(): ContextBlock {
  return { ...context(`:warning: ${PART_OF_LIST}`), block_id: BLOCK_ID };
}

/** Whether these blocks, or this text, already say so. */
export function saysPartOfList(shown: string | readonly AnyBlock[]): boolean {
  return JSON.stringify(shown).includes(PART_OF_LIST);
}

/** The same blocks with one note, below the first block, which it is about. */
export function withPartOfList<Block extends AnyBlock>(blocks: readonly Block[]): (Block | ContextBlock)[] {
  if (saysPartOfList(blocks)) return [...blocks];
  return [...blocks.slice(0, 1), partOfList(), ...blocks.slice(1)];
}
