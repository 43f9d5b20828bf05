import type { HomeView, KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { ChannelId } from '../../core/ids.ts';
import type { ComingServers, WantedList } from '../../home/read-home.ts';
import type { SlackRequest } from '../request.ts';
import { context, LIMITS } from './blocks.ts';

/** The `callback_id` of the app's Home tab. */
const HOME_VIEW = 'home';

/** What to show a user on Home. */
export interface WantedHome extends WantedList {
  /** The page of the list of servers, from 0. */
  readonly page: number;
  /** Whether the user opens Home for the first time. */
  readonly isWelcome: boolean;
}

/** The content of Home. */
export interface HomeContent {
  readonly blocks: readonly KnownBlock[];
  /** The page of the list that `blocks` show. */
  readonly page: number;
  /** Present if the hosting API has not answered yet: there is more to show once it has. */
  readonly coming?: ComingServers | undefined;
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
      : [...all.slice(0, LIMITS.viewBlocks - 1), context('There’s more than fits here: see `/vps status`.')];
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

/** Reads the page of the list that a Home view shows from its metadata; 0 if it has none. */
export function readHomePage(privateMetadata: string): number {
  try {
    return metadata.safeParse(JSON.parse(privateMetadata)).data?.m.page ?? 0;
  } catch {
    return 0;
  }
}
