import type { KnownBlock } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { HomeRedraw, OpenedHome } from '../../app/home/homes-port.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { WantedHome } from '../kit/home-view.ts';
import { homeKey, type PublishingParts, publish } from './home-publication.ts';
import { createLines } from './lines.ts';
import { createNewestFirst } from './newest-first.ts';
import type { SlackRequest } from './request.ts';

/** What a press on Home wants to be shown; the rest stays as it is. */
export interface ShownHome extends Partial<Pick<WantedHome, 'page' | 'isFresh'>> {
  /** What answers the press. */
  readonly notices?: readonly KnownBlock[];
}

/** Publishes the Home tab of each user. */
export interface HomePublisher extends HomeRedraw {
  /** A user has opened it. */
  open(request: SlackRequest): Promise<void>;
  /** Shows it again at once, for a press on it. True when Slack took it. */
  show(request: SlackRequest, shown: ShownHome & { readonly page: number }): Promise<boolean>;
  /** Shows it again soon, if the user has opened it lately. */
  refreshSoon(workspaceId: WorkspaceId, userId: UserId): void;
}

interface Parts extends Omit<PublishingParts, 'newestFirst' | 'notices'> {
  /** Makes a request of a user who has not sent one. */
  readonly requestFor: (
    workspaceId: WorkspaceId,
    userId: UserId,
    channelId: ChannelId,
  ) => Promise<SlackRequest>;
}

type Publishing = Parts & PublishingParts;

const MOST_USERS = 10_000;

/** For a user who opens it again and again, it is published once a second. */
const GAP_MS = 1000;
/** Several changes in a row are shown together. */
const SOON_MS = 1500;
/** After that, it is up to date when it is opened again. */
const LATELY_MS = 15 * MINUTE_MS;

export function createHomePublisher(parts: Parts): HomePublisher {
  const newestFirst = createNewestFirst(parts.system);
  const notices = new LRUCache<string, readonly KnownBlock[]>({ max: MOST_USERS });
  const publishing: Publishing = { ...parts, newestFirst, notices };
  const { system, log } = parts;
  const refreshing = new Set<string>();
  const refresh = async (workspaceId: WorkspaceId, userId: UserId) => {
    await system.sleep(SOON_MS);
    refreshing.delete(homeKey(workspaceId, userId));
    await showAgain(workspaceId, userId, publishing, LATELY_MS);
  };
  const redrawing = createLines<WorkspaceId, UserId>((workspaceId, userId) =>
    redrawNext(workspaceId, userId, publishing),
  );
  return {
    open: (request) => open(request, publishing),
    show: (request, shown) => show(request, shown, publishing),
    refreshSoon: (workspaceId, userId) => {
      const key = homeKey(workspaceId, userId);
      if (refreshing.has(key)) return;
      refreshing.add(key);
      void refresh(workspaceId, userId).catch((error: unknown) =>
        log.error('a Home could not be refreshed', describeDefect(error)),
      );
    },
    redraw: redrawing.add,
  };
}

const NOTHING_MORE = { page: 0, isFresh: false, isWelcome: false } as const;

async function open(request: SlackRequest, publishing: Publishing): Promise<void> {
  const { workspaceId, userId } = request.caller.actor;
  publishing.notices.delete(homeKey(workspaceId, userId));
  const wanted = { ...NOTHING_MORE, isFresh: true, isWelcome: !(await hasHome(request, publishing)) };
  const onShown = () => remember(request, 0, publishing);
  await publish({ wanted, request, gapMs: GAP_MS, onShown }, publishing);
}

async function show(
  request: SlackRequest,
  { page, isFresh = false, notices }: ShownHome & { readonly page: number },
  publishing: Publishing,
): Promise<boolean> {
  const { workspaceId, userId } = request.caller.actor;
  publishing.notices.set(homeKey(workspaceId, userId), notices ?? []);
  const wanted = { ...NOTHING_MORE, page, isFresh };
  const onShown = () => remember(request, page, publishing);
  const isShown = await publish({ wanted, request, gapMs: 0, onShown }, publishing);
  if (!isShown && (await hasHome(request, publishing))) await onShown();
  return isShown;
}

/** False for a user who hasn't opened it within that time. */
async function showAgain(
  workspaceId: WorkspaceId,
  userId: UserId,
  publishing: Publishing,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { homes, system, requestFor } = publishing;
  const opened = await homes.find(workspaceId, userId);
  if (!opened || system.now() - opened.openedAt > withinMs) return false;
  const { channelId, page } = opened;
  const request = await requestFor(workspaceId, userId, channelId);
  await publish({ wanted: { ...NOTHING_MORE, page }, request, gapMs: GAP_MS }, publishing);
  return true;
}

/** Slack accepts a hundred a minute in a workspace, and users' presses need some of them. */
const REDRAW_GAP_MS = 1000;

async function redrawNext(workspaceId: WorkspaceId, userId: UserId, publishing: Publishing): Promise<void> {
  const { system, log } = publishing;
  try {
    if (await showAgain(workspaceId, userId, publishing)) await system.sleep(REDRAW_GAP_MS);
  } catch (error) {
    log.error('a Home could not be refreshed', describeDefect(error));
  }
}

/** Users of other organizations get no Home, so none is stored for them. */
async function hasHome({ caller }: SlackRequest, { homes }: Parts): Promise<boolean> {
  const { workspaceId, userId } = caller.actor;
  return (await homes.find(workspaceId, userId)) !== undefined;
}

async function remember(request: SlackRequest, page: number, { homes, system }: Parts): Promise<void> {
  const { workspaceId, userId, channelId = '' } = request.caller.actor;
  const opened: OpenedHome = { channelId, page, openedAt: system.now() };
  await homes.put(workspaceId, userId, opened);
}
