import type { HomeView, KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { ComingServers } from '../../app/home/last-servers.ts';
import type { WantedList } from '../../app/home/read-servers.ts';
import type { ChannelId } from '../../domain/ids.ts';
import type { SlackRequest } from '../transport/request.ts';
import { context } from './blocks.ts';

/** The `callback_id` of the app's Home tab. */
export const HOME_VIEW = 'home';

/** What a user wants to see on Home. */
export interface WantedHome extends WantedList {
  /** Of the list of servers; from 0. */
  readonly page: number;
  /** The user has never opened Home before. */
  readonly isWelcome: boolean;
}

/** What is shown on Home. */
export interface HomeContent {
  readonly blocks: readonly KnownBlock[];
  /** The page that is shown. */
  readonly page: number;
  /** The hosting API has not answered yet: there is more to show once it has. */
  readonly coming?: ComingServers | undefined;
}

/** The Home tab of the app. It may be read at any time, so it does nothing. */
export interface HomeScreen {
  /** @throws Refusal `other_organization` and the like: then nothing is shown */
  load(wanted: WantedHome, request: SlackRequest): Promise<HomeContent>;
}

/** Slack takes this many blocks in a view. */
const MOST_BLOCKS = 100;
/** What answers a press stands above the rest, until the next one. */
const MOST_NOTICES = 10;

/** Makes the view that is published for one user. */
export function homeView(
  channelId: ChannelId,
  { page, blocks }: Pick<HomeContent, 'page' | 'blocks'>,
  notices: readonly KnownBlock[] = [],
): HomeView {
  const all = [...notices.slice(0, MOST_NOTICES).map(withoutId), ...blocks];
  const shown =
    all.length <= MOST_BLOCKS
      ? all
      : [...all.slice(0, MOST_BLOCKS - 1), context('There’s more than fits here: see `/vps status`.')];
  return {
    type: 'home',
    callback_id: HOME_VIEW,
    // In the form of a modal's, so that a press on Home is read like one.
    private_metadata: JSON.stringify({ o: { formId: HOME_VIEW, channelId }, m: { page } }),
    blocks: shown,
  };
}

/** Home may be published again while its user presses: under the same name, what they see stays what they press. */
export function steady<Block extends KnownBlock>(name: string, block: Block): Block {
  return { ...block, block_id: `${HOME_VIEW}_${name}` };
}

/** Two notices may come from the same kind of message. */
function withoutId({ block_id: _id, ...block }: KnownBlock): KnownBlock {
  return block;
}

const metadata = z.object({ m: z.object({ page: z.number().int().min(0) }) });

/** The page that such a view shows. */
export function readHomePage(privateMetadata: string): number {
  try {
    return metadata.safeParse(JSON.parse(privateMetadata)).data?.m.page ?? 0;
  } catch {
    return 0;
  }
}
