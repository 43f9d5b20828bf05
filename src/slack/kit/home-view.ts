import type { AnyBlock, HomeView, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { ChannelId } from '../../core/ids.ts';
import type { ComingServers, WantedList } from '../../home/home-servers.ts';
import type { SlackRequest } from '../request.ts';
import { context, LIMITS, plain } from './blocks.ts';
import type { Origin } from './form.ts';
import { shorten } from './text.ts';

/** The `callback_id` of the app's Home tab. */
const HOME_VIEW = 'home';

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
const MOST_CARD_BLOCKS = 100;

/** Makes the modal. `metadata`: an origin, or what such a modal carried before. */
export function cardView(title: string, metadata: Origin | string, parts: CardParts): ModalView {
  const { notices = [], blocks, kept = [] } = parts;
  const room = Math.max(0, MOST_CARD_BLOCKS - blocks.length - kept.length);
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

/** The app's step in workflows, and its inputs and outputs, as `manifest.workflow.yml` defines them. */
export const STEP = {
  id: 'power_action',
  inputs: ['action', 'server', 'key', 'channel'],
  outputs: ['message', 'server', 'state'],
} as const;

/** What later steps of a workflow can use. */
export type StepOutputs = Readonly<Record<(typeof STEP.outputs)[number], string>>;
