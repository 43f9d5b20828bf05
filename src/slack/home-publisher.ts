import type { HomeView, KnownBlock } from '@slack/types';
import { LRUCache } from 'lru-cache';
import { describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Homes } from '../home/homes.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { type Message, section } from './kit/blocks.ts';
import { type HomeContent, homeView, type LoadHome, type WantedHome } from './kit/views.ts';
import { holdsSecret, plainText, refusesView } from './refusals.ts';
import { NO_REPLY } from './reply.ts';
import type { Reply, SlackRequest } from './request.ts';
import type { SlackClients } from './slack-api.ts';

export interface ShownHome {
  readonly page?: number;
  readonly isFresh?: boolean;
  readonly notices?: readonly KnownBlock[];
}

/** Notes that something has changed for a user, so that their Home is refreshed soon. Returns at once. */
export type TouchHome = (workspaceId: WorkspaceId, userId: UserId) => void;

interface Publication {
  readonly wanted: WantedHome;
  readonly request: SlackRequest;
  /** The least time from the end of the user's last publication to this one, in milliseconds. */
  readonly gapMs: number;
  /** Whether to store, once Slack has accepted it, that the user has opened Home at this page. */
  readonly isOpening: boolean;
}

/** By size: a cache that is limited by its number of entries allocates all of them at the start. */
const OF_MANY_USERS = { maxSize: 10_000, sizeCalculation: () => 1 };

/** The pause between two publications for one user, except after a press. */
const GAP_MS = 1000;
/** How long `refreshSoon` waits, so that several changes in a row are shown together. */
const SOON_MS = 1500;
/** How long after it was opened Home is refreshed; later, it is read when it is opened again. */
const LATELY_MS = 15 * MINUTE_MS;
const LONGEST_RETRY_MS = MINUTE_MS;

const NOTHING_MORE = { page: 0, isFresh: false, isWelcome: false } as const;

const homeKey = (workspaceId: WorkspaceId, userId: UserId) => `${workspaceId}/${userId}`;

function keyOf({ caller }: SlackRequest): string {
  const { workspaceId, userId } = caller.actor;
  return homeKey(workspaceId, userId);
}

interface Parts {
  readonly clients: SlackClients;
  readonly homes: Homes;
  readonly load: LoadHome;
  readonly system: System;
  readonly log: Log;
  readonly requestFor: (workspaceId: WorkspaceId, userId: UserId, channelId: ChannelId) => SlackRequest;
}

export type HomePublisher = ReturnType<typeof createHomePublisher>;

/** Publishes the Home tab of each user of all workspaces (docs/design.md 2.13). Reads only: never changes anything at the hosting API. */
export function createHomePublisher(parts: Parts) {
  const { homes, system, log, requestFor } = parts;
  /** The blocks that answer each user's last press, until they press again or reopen Home. */
  const notices = new LRUCache<string, readonly KnownBlock[]>(OF_MANY_USERS);
  const refreshing = new Set<string>();
  const start = (work: Promise<unknown>): void =>
    void work.catch((error: unknown) => log.error('a Home could not be published', describeDefect(error)));
  const publish = createPublish(parts, notices, start);

  /** Whether a user has ever been shown Home; never for users of other organizations. */
  const hasHome = async ({ caller }: SlackRequest): Promise<boolean> =>
    (await homes.find(caller.actor.workspaceId, caller.actor.userId)) !== undefined;

  /** Shows Home as the user left it, if they have opened it lately. */
  const refresh = async (workspaceId: WorkspaceId, userId: UserId): Promise<void> => {
    await system.sleep(SOON_MS);
    refreshing.delete(homeKey(workspaceId, userId));
    const opened = await homes.find(workspaceId, userId);
    if (!opened || system.now() - opened.openedAt > LATELY_MS) return;
    const request = requestFor(workspaceId, userId, opened.channelId);
    const wanted = { ...NOTHING_MORE, page: opened.page };
    await publish({ wanted, request, gapMs: GAP_MS, isOpening: false });
  };

  return {
    open: async (request: SlackRequest): Promise<void> => {
      notices.delete(keyOf(request));
      const wanted = { ...NOTHING_MORE, isFresh: true, isWelcome: !(await hasHome(request)) };
      await publish({ wanted, request, gapMs: GAP_MS, isOpening: true });
    },
    /** Shows Home again at once after a press on it; true if Slack took it. */
    show: async (
      request: SlackRequest,
      { page, isFresh = false, notices: shown = [] }: ShownHome & { readonly page: number },
    ): Promise<boolean> => {
      notices.set(keyOf(request), shown);
      const wanted = { ...NOTHING_MORE, page, isFresh };
      const isShown = await publish({ wanted, request, gapMs: 0, isOpening: true });
      if (!isShown && (await hasHome(request))) await remember(request, page, parts);
      return isShown;
    },
    /** Shows Home again within seconds, if the user has opened it in the last 15 minutes. Returns at once. */
    refreshSoon: (workspaceId: WorkspaceId, userId: UserId): void => {
      const key = homeKey(workspaceId, userId);
      if (refreshing.has(key)) return;
      refreshing.add(key);
      start(refresh(workspaceId, userId));
    },
  };
}

function remember({ caller }: SlackRequest, page: number, { homes, system }: Parts): Promise<void> {
  const { workspaceId, userId, channelId = '' } = caller.actor;
  return homes.put(workspaceId, userId, { channelId, page, openedAt: system.now() });
}

/** Creates what publishes one Home: what is known soon, and the rest later. It returns true if Slack took the first. */
function createPublish(
  parts: Parts,
  notices: LRUCache<string, readonly KnownBlock[]>,
  start: (work: Promise<void>) => void,
): (publication: Publication) => Promise<boolean> {
  const { clients, load, system } = parts;
  const newestFirst = createNewestFirst(system);

  const publish = (publication: Publication): Promise<boolean> => {
    const publishNow = async () => {
      const content = await read(publication.wanted, publication.request);
      if (!content) return false;
      const isShown = await send(content, publication);
      if (isShown && content.isComing) start(followUp(publication));
      return isShown;
    };
    return newestFirst.run(keyOf(publication.request), publishNow, publication.gapMs);
  };

  /** Reads the content of Home; undefined for users who get none. In place of an error, the content explains it. */
  const read = async (wanted: WantedHome, request: SlackRequest): Promise<HomeContent | undefined> => {
    try {
      return await load(wanted, request);
    } catch (error) {
      if (isRefusal(error, 'other_organization') || isRefusal(error, 'other_workspace')) return undefined;
      const words = request.explain(error);
      const more = isExpected(error) ? ' Open this tab again in a moment.' : '';
      return { blocks: [section(`${words}${more}`)], page: wanted.page };
    }
  };

  const send = async (content: HomeContent, publication: Publication): Promise<boolean> => {
    const { request, wanted, isOpening } = publication;
    const { workspaceId, userId, channelId = '' } = request.caller.actor;
    const slack = clients.of(workspaceId);
    const { page } = content;
    const view = homeView(channelId, content, notices.get(keyOf(request)));
    const first = await slack.publishView(userId, view);
    const answer =
      !first.ok && refusesView(first.error)
        ? await slack.publishView(userId, homeView(channelId, { page, blocks: inWords(view.blocks) }))
        : first;
    if (answer.ok && isOpening) await remember(request, wanted.page, parts);
    if (!answer.ok && answer.retryAfterMs !== undefined)
      start(retry(answer.retryAfterMs, { ...publication, wanted: { ...wanted, page, isFresh: false } }));
    return answer.ok;
  };

  const retry = async (afterMs: number, publication: Publication): Promise<void> => {
    const key = keyOf(publication.request);
    const version = newestFirst.version(key);
    await system.sleep(Math.min(afterMs, LONGEST_RETRY_MS));
    if (newestFirst.version(key) === version) await publish(publication);
  };

  /** Publishes Home again when the hosting API has answered, unless something newer was published by then. */
  const followUp = async (publication: Publication): Promise<void> => {
    const { wanted, request } = publication;
    const key = keyOf(request);
    const version = newestFirst.version(key);
    const whole = await read({ ...wanted, isFresh: false, isPatient: true }, request);
    if (!whole || newestFirst.version(key) !== version) return;
    await newestFirst.run(key, () => send(whole, publication), 0);
  };

  return publish;
}

/** Makes one paragraph of the words of blocks, for when Slack refuses the blocks. */
function inWords(blocks: HomeView['blocks']): KnownBlock[] {
  return [section(plainText({ text: 'vps', blocks: [...blocks] as KnownBlock[] }))];
}

interface Line {
  /** The run that was begun last, or that waits for the one before it. */
  last: Promise<boolean>;
  /** What the waiting run will carry out; undefined if none waits. */
  work: (() => Promise<boolean>) | undefined;
  endedAt: number;
  version: number;
}

/**
 * Creates queues that run work one after the other for each key, for the 10,000 keys that were used last. Of the work that waits for
 * a key, only the newest is run.
 */
export function createNewestFirst(system: System) {
  const lines = new LRUCache<string, Line>(OF_MANY_USERS);
  const lineOf = (key: string): Line => {
    const line = lines.get(key) ?? {
      last: Promise.resolve(false),
      work: undefined,
      endedAt: Number.NEGATIVE_INFINITY,
      version: 0,
    };
    lines.set(key, line);
    return line;
  };
  return {
    /**
     * Runs the work, or newer work in its place, no sooner than `gapMs` after the last run ended. Returns the result of what was
     * run. @throws what that throws
     */
    run: (key: string, work: () => Promise<boolean>, gapMs: number): Promise<boolean> => {
      const line = lineOf(key);
      const isWaiting = line.work !== undefined;
      line.work = work;
      if (!isWaiting) line.last = runNext(line, gapMs, system);
      return line.last;
    },
    /** Increments when a run begins. Compare two values to detect a newer run. */
    version: (key: string): number => lineOf(key).version,
  };
}

async function runNext(line: Line, gapMs: number, system: System): Promise<boolean> {
  await line.last.catch(() => undefined);
  const restMs = line.endedAt + gapMs - system.elapsed();
  if (restMs > 0) await system.sleep(restMs);
  const { work } = line;
  line.work = undefined;
  line.version++;
  try {
    return work !== undefined && (await work());
  } finally {
    line.endedAt = system.elapsed();
  }
}

/**
 * Replies to a press on Home, which has no channel: puts what would be a message above the rest of Home, and reads that again. A
 * root password is never part of a view: it goes through `otherwise`, to the user only.
 */
export function replyInHome(
  otherwise: Reply,
  show: (notices: readonly KnownBlock[]) => Promise<boolean>,
): Reply {
  let notices: readonly KnownBlock[] = [];
  const add = async (blocks: readonly KnownBlock[]) => {
    notices = [...notices, ...blocks];
    return show(notices);
  };
  const send = async (message: Message): Promise<boolean> => {
    if (!holdsSecret(message)) return (await add(knownBlocks(message))) || otherwise.send(message);
    const isSent = await otherwise.send(message);
    // One notice is enough, also for a password in several messages.
    notices = notices.filter((notice) => notice !== SHOWN_IN_MESSAGES);
    await add([isSent ? SHOWN_IN_MESSAGES : NOT_SHOWN]);
    return isSent;
  };
  return { ...NO_REPLY, send, replace: send };
}

/** Returns a message's blocks without charts, which Home doesn't take. */
function knownBlocks({ blocks, plainBlocks }: Message): KnownBlock[] {
  return (plainBlocks ?? blocks).filter((block): block is KnownBlock => block.type !== 'data_visualization');
}

const SHOWN_IN_MESSAGES = section(
  'The root password is in the *Messages* tab, visible only to you. If you don’t see it there, type `/vps password` in any channel.',
);
const NOT_SHOWN = section(
  'Slack didn’t confirm that it showed you the root password. If you don’t see all of it in the *Messages* tab, type `/vps password` in any channel.',
);
