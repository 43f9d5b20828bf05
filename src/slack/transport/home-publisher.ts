import type { KnownBlock } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { Homes, OpenedHome } from '../../app/home/ports.ts';
import { describeDefect, isExpected, isRefusal } from '../../domain/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { section } from '../kit/blocks.ts';
import { type HomeContent, type HomeScreen, homeView, type WantedHome } from '../kit/home-view.ts';
import { plainText } from './fallback.ts';
import { createNewestFirst, type NewestFirst } from './newest-first.ts';
import type { SlackRequest } from './request.ts';
import type { RequestParts } from './request-parts.ts';

/** What a press on Home wants to be shown; the rest stays as it is. */
export interface ShownHome extends Partial<Pick<WantedHome, 'page' | 'isFresh'>> {
  /** What answers the press. */
  readonly notices?: readonly KnownBlock[];
}

/** Publishes the Home tab of each user. */
export interface HomePublisher {
  /** A user has opened it. */
  open(request: SlackRequest): Promise<void>;
  /** Shows it again at once, for a press on it. True when Slack took it. */
  show(request: SlackRequest, shown: ShownHome & { readonly page: number }): Promise<boolean>;
  /** Shows it again soon, if the user has opened it lately. */
  refreshSoon(workspaceId: WorkspaceId, userId: UserId): void;
}

interface Parts extends Pick<RequestParts, 'clients' | 'system' | 'log'> {
  readonly homes: Homes;
  readonly screen: HomeScreen;
  /** Makes a request of a user who has not sent one. */
  readonly requestFor: (
    workspaceId: WorkspaceId,
    userId: UserId,
    channelId: ChannelId,
  ) => Promise<SlackRequest>;
}

interface Publishing extends Parts {
  readonly newestFirst: NewestFirst;
  /** The reply to the last press of each user, until they press again or reopen Home. */
  readonly notices: LRUCache<string, readonly KnownBlock[]>;
}

const MOST_USERS = 10_000;

/** For a user who opens it again and again, it is published once a second. */
const GAP_MS = 1000;
/** Several changes in a row are shown together. */
const SOON_MS = 1500;
/** After that, it is up to date when it is opened again. */
const LATELY_MS = 15 * MINUTE_MS;
const LONGEST_RETRY_MS = MINUTE_MS;

export function createHomePublisher(parts: Parts): HomePublisher {
  const newestFirst = createNewestFirst(parts.system);
  const notices = new LRUCache<string, readonly KnownBlock[]>({ max: MOST_USERS });
  const publishing: Publishing = { ...parts, newestFirst, notices };
  const { homes, system, log } = parts;
  const refreshing = new Set<string>();
  const refresh = async (workspaceId: WorkspaceId, userId: UserId) => {
    await system.sleep(SOON_MS);
    refreshing.delete(keyOf(workspaceId, userId));
    const opened = await homes.find(workspaceId, userId);
    if (!opened || system.now() - opened.openedAt > LATELY_MS) return;
    const { channelId, page } = opened;
    const request = await parts.requestFor(workspaceId, userId, channelId);
    await publish({ ...NOTHING_MORE, page }, request, GAP_MS, publishing);
  };
  return {
    open: async (request) => {
      const { workspaceId, userId } = request.caller.actor;
      notices.delete(keyOf(workspaceId, userId));
      const wanted = { ...NOTHING_MORE, isWelcome: !(await hasHome(request, publishing)) };
      if (await publish(wanted, request, GAP_MS, publishing)) await remember(request, 0, publishing);
    },
    show: async (request, shown) => {
      const { workspaceId, userId } = request.caller.actor;
      notices.set(keyOf(workspaceId, userId), shown.notices ?? []);
      const { page, isFresh = false } = shown;
      const isShown = await publish({ ...NOTHING_MORE, page, isFresh }, request, 0, publishing);
      if (isShown || (await hasHome(request, publishing))) await remember(request, page, publishing);
      return isShown;
    },
    refreshSoon: (workspaceId, userId) => {
      const key = keyOf(workspaceId, userId);
      if (refreshing.has(key)) return;
      refreshing.add(key);
      void refresh(workspaceId, userId).catch((error: unknown) =>
        log.error('a Home could not be refreshed', describeDefect(error)),
      );
    },
  };
}

const NOTHING_MORE = { page: 0, isFresh: false, isWelcome: false } as const;

type Wanted = Omit<WantedHome, 'isPatient'>;

const keyOf = (workspaceId: WorkspaceId, userId: UserId) => `${workspaceId}/${userId}`;

/** Users of other organizations get no Home, and none is remembered for them. */
async function hasHome({ caller }: SlackRequest, { homes }: Parts): Promise<boolean> {
  const { workspaceId, userId } = caller.actor;
  return (await homes.find(workspaceId, userId)) !== undefined;
}

async function remember(request: SlackRequest, page: number, { homes, system }: Parts): Promise<void> {
  const { workspaceId, userId, channelId = '' } = request.caller.actor;
  const opened: OpenedHome = { channelId, page, openedAt: system.now() };
  await homes.put(workspaceId, userId, opened);
}

/**
 * Shows what can be known soon; where the hosting API takes longer, the rest once it has answered, unless something newer
 * was shown by then.
 */
async function publish(
  wanted: Wanted,
  request: SlackRequest,
  gapMs: number,
  publishing: Publishing,
): Promise<boolean> {
  const { workspaceId, userId } = request.caller.actor;
  const { newestFirst } = publishing;
  const key = keyOf(workspaceId, userId);
  return newestFirst.run(
    key,
    async () => {
      const content = await load({ ...wanted, isPatient: false }, request, publishing);
      if (!content) return false;
      const version = newestFirst.version(key);
      if (content.isReading) void followUp(key, version, wanted, request, publishing);
      return send(content, request, publishing);
    },
    gapMs,
  );
}

async function followUp(
  key: string,
  version: number,
  wanted: Wanted,
  request: SlackRequest,
  publishing: Publishing,
): Promise<void> {
  const { newestFirst } = publishing;
  const content = await load({ ...wanted, isPatient: true }, request, publishing);
  if (!content || newestFirst.version(key) !== version) return;
  await newestFirst.run(key, () => send(content, request, publishing), 0);
}

/** Undefined for users who get no Home; it shows a defect, rather than staying empty. */
async function load(
  wanted: WantedHome,
  request: SlackRequest,
  { screen }: Parts,
): Promise<HomeContent | undefined> {
  return screen.load(wanted, request).catch((error: unknown) => {
    if (isRefusal(error, 'other_organization') || isRefusal(error, 'other_workspace')) return undefined;
    const words = request.explain(error);
    const more = isExpected(error) ? ' Open this tab again in a moment.' : '';
    return { blocks: [section(`${words}${more}`)], page: wanted.page, isReading: false };
  });
}

async function send(content: HomeContent, request: SlackRequest, publishing: Publishing): Promise<boolean> {
  const { workspaceId, userId, channelId = '' } = request.caller.actor;
  const slack = publishing.clients.of(workspaceId);
  const notices = publishing.notices.get(keyOf(workspaceId, userId));
  const view = homeView(channelId, content, notices);
  const answer = await slack.publishView(userId, view);
  if (answer.ok) return true;
  if (answer.retryAfterMs !== undefined) {
    void retry(Math.min(answer.retryAfterMs, LONGEST_RETRY_MS), content, request, publishing);
    return false;
  }
  if (!/^invalid_/.test(answer.error)) return false;
  // Slack doesn't take its blocks: the same in words.
  const text = plainText({ text: 'vps', blocks: [...view.blocks] as KnownBlock[] });
  const plain = homeView(channelId, { page: content.page, blocks: [section(text)] });
  return (await slack.publishView(userId, plain)).ok;
}

/** Slack takes no more of them for a while: what is shown then is what is true then. */
async function retry(
  afterMs: number,
  { page }: HomeContent,
  request: SlackRequest,
  publishing: Publishing,
): Promise<void> {
  await publishing.system.sleep(afterMs);
  await publish({ ...NOTHING_MORE, page }, request, GAP_MS, publishing);
}
