import type { HomeView, KnownBlock } from '@slack/types';
import { LRUCache } from 'lru-cache';
import { describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { WantedList } from '../home/read-home.ts';
import type { HomeRedraw, Homes, OpenedHome } from '../home/redraw.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { holdsSecret, plainText, refusesView } from './failures.ts';
import { type Message, section } from './kit/blocks.ts';
import { type HomeContent, type HomeScreen, homeView, type WantedHome } from './kit/home-view.ts';
import type { Reply, SlackRequest } from './request.ts';
import type { SlackAnswer, SlackClients } from './slack-api.ts';

/** What changes on Home after a press. */
export interface ShownHome {
  readonly page?: number;
  /** Read the servers anew. */
  readonly isFresh?: boolean;
  /** The blocks that answer the press. */
  readonly notices?: readonly KnownBlock[];
}

/** Publishes the Home tab of each user (docs/design.md 2.13). Reads only: never changes anything at the hosting API. */
export interface HomePublisher extends HomeRedraw {
  /** Shows Home to a user who has opened it, with fresh reads. */
  open(request: SlackRequest): Promise<void>;
  /** Shows Home again at once after a press on it; true if Slack took it. */
  show(request: SlackRequest, shown: ShownHome & { readonly page: number }): Promise<boolean>;
  /** Shows Home again within seconds, if the user has opened it in the last 15 minutes. Returns at once. */
  refreshSoon(workspaceId: WorkspaceId, userId: UserId): void;
}

interface Parts {
  readonly clients: SlackClients;
  readonly homes: Homes;
  readonly screen: HomeScreen;
  readonly system: System;
  readonly log: Log;
  /** Makes a request on behalf of a user who has not sent one. */
  readonly requestFor: (
    workspaceId: WorkspaceId,
    userId: UserId,
    channelId: ChannelId,
  ) => Promise<SlackRequest>;
}

interface Publishing extends Parts {
  readonly newestFirst: NewestFirst;
  /** The blocks that answer each user's last press, until they press again or reopen Home. */
  readonly notices: LRUCache<string, readonly KnownBlock[]>;
}

const MOST_USERS = 10_000;

/** The pause between two publications for one user, except after a press. */
const GAP_MS = 1000;
/** How long `refreshSoon` waits, so that several changes in a row are shown together. */
const SOON_MS = 1500;
/** How long after it was opened Home is refreshed; later, it is read when it is opened again. */
const LATELY_MS = 15 * MINUTE_MS;

/** Creates the publisher for all workspaces. */
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

/** Shows Home as the user left it; false if they haven't opened it within `withinMs`. */
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

/** The pause between two redraws in a workspace: Slack accepts a hundred views a minute there, and presses need some. */
const REDRAW_GAP_MS = 1000;

async function redrawNext(workspaceId: WorkspaceId, userId: UserId, publishing: Publishing): Promise<void> {
  const { system, log } = publishing;
  try {
    if (await showAgain(workspaceId, userId, publishing)) await system.sleep(REDRAW_GAP_MS);
  } catch (error) {
    log.error('a Home could not be refreshed', describeDefect(error));
  }
}

/** Whether a user has ever been shown Home; never for users of other organizations. */
async function hasHome({ caller }: SlackRequest, { homes }: Parts): Promise<boolean> {
  const { workspaceId, userId } = caller.actor;
  return (await homes.find(workspaceId, userId)) !== undefined;
}

async function remember(request: SlackRequest, page: number, { homes, system }: Parts): Promise<void> {
  const { workspaceId, userId, channelId = '' } = request.caller.actor;
  const opened: OpenedHome = { channelId, page, openedAt: system.now() };
  await homes.put(workspaceId, userId, opened);
}

/** One Home to be published for one user. */
interface Publication {
  readonly wanted: WantedHome;
  readonly request: SlackRequest;
  /** The least time from the end of the user's last publication to this one, in milliseconds. */
  readonly gapMs: number;
  /** Called when Slack has accepted it, also if that takes several tries. */
  readonly onShown?: (() => Promise<void>) | undefined;
}

const LONGEST_RETRY_MS = MINUTE_MS;

const homeKey = (workspaceId: WorkspaceId, userId: UserId) => `${workspaceId}/${userId}`;

function keyOf({ request }: Publication): string {
  const { workspaceId, userId } = request.caller.actor;
  return homeKey(workspaceId, userId);
}

/**
 * Publishes what is known soon; true if Slack took that. If the hosting API takes longer, publishes again once it has answered,
 * unless something newer was published by then.
 */
async function publish(publication: Publication, parts: Publishing): Promise<boolean> {
  const key = keyOf(publication);
  const { newestFirst } = parts;
  return newestFirst.run(
    key,
    async () => {
      const read = await readHome(publication, {}, parts);
      if (!read) return false;
      const version = newestFirst.version(key);
      const isShown = await sendNewest(read, publication, {}, parts);
      if (isShown && read.content.coming) startFollowUp(read, publication, version, parts);
      return isShown;
    },
    publication.gapMs,
  );
}

/** Publishes the rest of a read when the hosting API has answered, under the same read ID. */
function startFollowUp(
  { readId, content: { coming } }: ReadHome,
  publication: Publication,
  version: number,
  parts: Publishing,
): void {
  const { newestFirst } = parts;
  const key = keyOf(publication);
  const followUp = async () => {
    const content = await load(publication, { isPatient: true, coming }, parts);
    if (!content || newestFirst.version(key) !== version) return;
    const read = { content, readId };
    await newestFirst.run(key, () => sendNewest(read, publication, { isPatient: true }, parts), 0);
  };
  void followUp().catch((error: unknown) => logFailure(error, parts));
}

/** The content of Home, and an ID from before it was read, by which all processes can order reads. */
interface ReadHome {
  readonly content: HomeContent;
  readonly readId: string;
}

/** Reads the content of Home; undefined for users who get none. */
async function readHome(
  publication: Publication,
  how: WantedList,
  parts: Publishing,
): Promise<ReadHome | undefined> {
  const readId = parts.system.newId();
  const content = await load(publication, how, parts);
  return content && { content, readId };
}

/**
 * Sends what was read. If another process has published a later read, reads again first, but only once: a clock that was ahead must
 * not keep Home as it is.
 */
async function sendNewest(
  read: ReadHome,
  publication: Publication,
  how: WantedList,
  parts: Publishing,
): Promise<boolean> {
  if (await isNewest(read, publication, parts)) return send(read.content, publication, parts);
  const again = await readHome(publication, how, parts);
  if (!again) return false;
  await isNewest(again, publication, parts);
  return send(again.content, publication, parts);
}

/** Whether no process has published a later read. If the store fails, Home is shown all the same. */
async function isNewest(
  { readId }: ReadHome,
  { request }: Publication,
  { homes }: Publishing,
): Promise<boolean> {
  const { workspaceId, userId } = request.caller.actor;
  return homes.markShown(workspaceId, userId, readId).catch(() => true);
}

/** Loads the content of Home; undefined for users who get none. In place of an error, the content that explains it. */
async function load(
  { wanted, request }: Publication,
  how: WantedList,
  { screen }: Publishing,
): Promise<HomeContent | undefined> {
  return screen.load({ ...wanted, ...how }, request).catch((error: unknown) => {
    if (isRefusal(error, 'other_organization') || isRefusal(error, 'other_workspace')) return undefined;
    const words = request.explain(error);
    const more = isExpected(error) ? ' Open this tab again in a moment.' : '';
    return { blocks: [section(`${words}${more}`)], page: wanted.page };
  });
}

async function send(content: HomeContent, publication: Publication, parts: Publishing): Promise<boolean> {
  const { request, onShown } = publication;
  const { workspaceId, userId, channelId = '' } = request.caller.actor;
  const slack = parts.clients.of(workspaceId);
  const { page } = content;
  const view = homeView(channelId, content, parts.notices.get(keyOf(publication)));
  const first = await slack.publishView(userId, view);
  const answer = refusesHome(first)
    ? await slack.publishView(userId, homeView(channelId, { page, blocks: inWords(view.blocks) }))
    : first;
  if (answer.ok) await onShown?.();
  else if (answer.retryAfterMs !== undefined) startRetry(answer.retryAfterMs, page, publication, parts);
  return answer.ok;
}

function refusesHome(answer: SlackAnswer): boolean {
  return !answer.ok && (refusesView(answer.error) || answer.error === 'view_too_large');
}

/** Makes one paragraph of the words of blocks, for when Slack refuses the blocks. */
function inWords(blocks: HomeView['blocks']): KnownBlock[] {
  return [section(plainText({ text: 'vps', blocks: [...blocks] as KnownBlock[] }))];
}

/** Reads and publishes again once Slack's rate limit is over. */
function startRetry(afterMs: number, page: number, publication: Publication, parts: Publishing): void {
  const { newestFirst, system } = parts;
  const key = keyOf(publication);
  const version = newestFirst.version(key);
  const retry = async () => {
    await system.sleep(Math.min(afterMs, LONGEST_RETRY_MS));
    if (newestFirst.version(key) !== version) return;
    await publish({ ...publication, wanted: { ...publication.wanted, page, isFresh: false } }, parts);
  };
  void retry().catch((error: unknown) => logFailure(error, parts));
}

function logFailure(error: unknown, { log }: Publishing): void {
  log.error('a Home could not be published', describeDefect(error));
}

/** A queue for each key, worked through one item after the other. An item that already waits is not added again. */
interface Lines<Key, One> {
  /** Adds items, and starts to work. Returns at once. */
  add(key: Key, ones: readonly One[]): void;
}

/** Creates the queues. The work must not throw. */
function createLines<Key, One>(work: (key: Key, one: One) => Promise<void>): Lines<Key, One> {
  const lines = new Map<Key, Set<One>>();
  const workThrough = async (key: Key, waiting: Set<One>) => {
    for (const one of waiting) {
      waiting.delete(one);
      await work(key, one);
    }
    lines.delete(key);
  };
  return {
    add: (key, ones) => {
      const waiting = lines.get(key);
      if (waiting) {
        for (const one of ones) waiting.add(one);
        return;
      }
      const begun = new Set(ones);
      lines.set(key, begun);
      void workThrough(key, begun);
    },
  };
}

/** Runs work one after the other for each key. Of the work that waits for a key, only the newest is run. */
interface NewestFirst {
  /**
   * Runs the work, or newer work in its place, no sooner than `gapMs` after the last run ended. Returns the result of what was
   * run. @throws what that throws
   */
  run(key: string, work: () => Promise<boolean>, gapMs: number): Promise<boolean>;
  /** Increments when a run begins. Compare two values to detect a newer run. */
  version(key: string): number;
}

interface Waiting {
  work: () => Promise<boolean>;
  done: Promise<boolean>;
}

interface Line {
  current: Promise<unknown>;
  waiting: Waiting | undefined;
  endedAt: number;
  version: number;
}

const MOST_KEYS = 10_000;

/** Creates the queues, for the 10,000 keys that were used last. */
export function createNewestFirst(system: System): NewestFirst {
  const lines = new LRUCache<string, Line>({ max: MOST_KEYS });
  const lineOf = (key: string): Line => {
    const known = lines.get(key);
    if (known) return known;
    const made = {
      ...{ current: Promise.resolve(), waiting: undefined },
      ...{ endedAt: Number.NEGATIVE_INFINITY, version: 0 },
    };
    lines.set(key, made);
    return made;
  };
  return {
    run: (key, work, gapMs) => {
      const line = lineOf(key);
      if (line.waiting) {
        line.waiting.work = work;
        return line.waiting.done;
      }
      const waiting: Waiting = { work, done: Promise.resolve(false) };
      line.waiting = waiting;
      waiting.done = runNext(line, waiting, gapMs, system);
      return waiting.done;
    },
    version: (key) => lineOf(key).version,
  };
}

async function runNext(line: Line, waiting: Waiting, gapMs: number, system: System): Promise<boolean> {
  await line.current;
  const restMs = line.endedAt + gapMs - system.elapsed();
  if (restMs > 0) await system.sleep(restMs);
  line.waiting = undefined;
  line.version++;
  const running = waiting.work();
  line.current = running.catch(() => undefined);
  try {
    return await running;
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
  const none = async () => false;
  return { send, replace: send, edit: none, delete: none, announce: none };
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

/** Notes that something has changed for a user, so that their Home is refreshed soon. Returns at once. */
export type TouchHome = (workspaceId: WorkspaceId, userId: UserId) => void;

interface Listener extends HomeRedraw {
  readonly refreshSoon: TouchHome;
}

/** Forwards changes to the publisher of Home, which is created later. Without one, drops them. */
export interface HomeTouches extends HomeRedraw {
  readonly touch: TouchHome;
  /** Sets the publisher. */
  listen(listener: Listener): void;
}

/** Creates the forwarding, without a publisher yet. */
export function createHomeTouches(): HomeTouches {
  let listening: Listener = { refreshSoon: () => undefined, redraw: () => undefined };
  return {
    touch: (workspaceId, userId) => listening.refreshSoon(workspaceId, userId),
    redraw: (workspaceId, userIds) => listening.redraw(workspaceId, userIds),
    listen: (listener) => {
      listening = listener;
    },
  };
}
