import type { AnyBlock, HomeView, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { ChannelId } from '../../core/ids.ts';
import type { WantedList } from '../../home/read-home.ts';
import type { SlackRequest } from '../request.ts';
import { context, LIMITS, plain } from './blocks.ts';
import type { Origin } from './form.ts';
import { readJson, shorten } from './text.ts';

// The two views whose buttons answer in the same view: a card's modal, and the Home tab.

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

const HOME_VIEW = 'home';

export interface WantedHome extends WantedList {
  /** The page of the list of servers, from 0. */
  readonly page: number;
  /** Whether the user opens Home for the first time. */
  readonly isWelcome: boolean;
}

export interface HomeContent {
  readonly blocks: readonly KnownBlock[];
  readonly page: number;
  /** The hosting API has not answered yet: there is more to show once it has. */
  readonly isComing?: boolean;
}

/**
 * Makes the content of the app's Home tab. It may be made at any time, so making it changes nothing.
 * @throws Refusal `other_organization` or `other_workspace` for users who get no Home, and other errors
 */
export type LoadHome = (wanted: WantedHome, request: SlackRequest) => Promise<HomeContent>;

/** The most blocks above the rest of Home that answer the last press. */
const MOST_NOTICES = 10;

/** Makes the view that is published for one user. Cuts what doesn't fit, and says so. */
export function homeView(
  channelId: ChannelId,
  { page, blocks }: HomeContent,
  notices: readonly KnownBlock[] = [],
): HomeView {
  const all = [...notices.slice(0, MOST_NOTICES).map(withoutId), ...blocks];
  const shown =
    all.length <= LIMITS.viewBlocks
      ? all
      : [
          ...all.slice(0, LIMITS.viewBlocks - 1),
          context('There’s more than we can show here. See `/vps status`.'),
        ];
  return {
    type: 'home',
    callback_id: HOME_VIEW,
    // In the shape of a modal's metadata, so that a press on Home is read like one in a modal.
    private_metadata: JSON.stringify({ o: { formId: HOME_VIEW, channelId }, m: { page } }),
    blocks: shown,
  };
}

/** Gives a block of Home a fixed ID: Home may be published again while its user presses something in the block. */
export function steady<Block extends KnownBlock>(name: string, block: Block): Block {
  return { ...block, block_id: `${HOME_VIEW}_${name}` };
}

/** Removes a notice's block ID, since two notices may come from the same kind of message. */
function withoutId({ block_id: _id, ...block }: KnownBlock): KnownBlock {
  return block;
}

const metadata = z.object({ m: z.object({ page: z.number().int().min(0) }) });

export function readHomePage(privateMetadata: string): number {
  return metadata.safeParse(readJson(privateMetadata)).data?.m.page ?? 0;
}
