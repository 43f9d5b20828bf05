import type { HomeView, KnownBlock } from '@slack/types';
import type { LRUCache } from 'lru-cache';
import type { Homes } from '../../app/home/homes-port.ts';
import { describeDefect, isExpected, isRefusal } from '../../domain/errors.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { section } from '../kit/blocks.ts';
import { type HomeContent, type HomeScreen, homeView, type WantedHome } from '../kit/home-view.ts';
import { plainText, refusesView } from './fallback.ts';
import type { NewestFirst } from './newest-first.ts';
import type { SlackRequest } from './request.ts';
import type { RequestParts } from './request-parts.ts';
import type { SlackAnswer } from './slack-api.ts';

/** One Home to be shown to one user. */
export interface Publication {
  readonly wanted: Omit<WantedHome, 'isPatient' | 'coming'>;
  readonly request: SlackRequest;
  /** The least time between the end of the user's last publication and this one. */
  readonly gapMs: number;
  /** Called when Slack has accepted it, even if that takes more than one try. */
  readonly onShown?: (() => Promise<void>) | undefined;
}

export interface PublishingParts extends Pick<RequestParts, 'clients' | 'system' | 'log'> {
  readonly homes: Homes;
  readonly screen: HomeScreen;
  readonly newestFirst: NewestFirst;
  /** The reply to the last press of each user, until they press again or reopen Home. */
  readonly notices: LRUCache<string, readonly KnownBlock[]>;
}

const LONGEST_RETRY_MS = MINUTE_MS;

export const homeKey = (workspaceId: WorkspaceId, userId: UserId) => `${workspaceId}/${userId}`;

function keyOf({ request }: Publication): string {
  const { workspaceId, userId } = request.caller.actor;
  return homeKey(workspaceId, userId);
}

/**
 * Shows what can be known soon; where the hosting API takes longer, the rest once it has answered, unless something newer
 * was shown by then. True when Slack took it at once.
 */
export async function publish(publication: Publication, parts: PublishingParts): Promise<boolean> {
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

/** Publishes the result of the read that the first publication has begun, under the same read ID. */
function startFollowUp(
  { readId, content: { coming } }: ReadHome,
  publication: Publication,
  version: number,
  parts: PublishingParts,
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

type HowRead = Pick<WantedHome, 'isPatient' | 'coming'>;

/** What Home shows, and an ID of before it was read, in the order of all processes. */
interface ReadHome {
  readonly content: HomeContent;
  readonly readId: string;
}

/** Undefined for users who get no Home. */
async function readHome(
  publication: Publication,
  how: HowRead,
  parts: PublishingParts,
): Promise<ReadHome | undefined> {
  const readId = parts.system.newId();
  const content = await load(publication, how, parts);
  return content && { content, readId };
}

/**
 * Sends it; if another process has shown what was read later, it is read again first. Once only: a clock that was ahead must not
 * keep Home as it is.
 */
async function sendNewest(
  read: ReadHome,
  publication: Publication,
  how: HowRead,
  parts: PublishingParts,
): Promise<boolean> {
  if (await isNewest(read, publication, parts)) return send(read.content, publication, parts);
  const again = await readHome(publication, how, parts);
  if (!again) return false;
  await isNewest(again, publication, parts);
  return send(again.content, publication, parts);
}

/** Where the store fails, Home is shown all the same. */
async function isNewest(
  { readId }: ReadHome,
  { request }: Publication,
  { homes }: PublishingParts,
): Promise<boolean> {
  const { workspaceId, userId } = request.caller.actor;
  return homes.markShown(workspaceId, userId, readId).catch(() => true);
}

/** Undefined for users who get no Home; it shows a defect, rather than staying empty. */
async function load(
  { wanted, request }: Publication,
  how: HowRead,
  { screen }: PublishingParts,
): Promise<HomeContent | undefined> {
  return screen.load({ ...wanted, ...how }, request).catch((error: unknown) => {
    if (isRefusal(error, 'other_organization') || isRefusal(error, 'other_workspace')) return undefined;
    const words = request.explain(error);
    const more = isExpected(error) ? ' Open this tab again in a moment.' : '';
    return { blocks: [section(`${words}${more}`)], page: wanted.page };
  });
}

async function send(
  content: HomeContent,
  publication: Publication,
  parts: PublishingParts,
): Promise<boolean> {
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

/** The same as plain text, without what Slack may refuse, buttons included. */
function inWords(blocks: HomeView['blocks']): KnownBlock[] {
  return [section(plainText({ text: 'vps', blocks: [...blocks] as KnownBlock[] }))];
}

/** Publishes again once Slack's limit is over, with what is true then. */
function startRetry(afterMs: number, page: number, publication: Publication, parts: PublishingParts): void {
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

function logFailure(error: unknown, { log }: PublishingParts): void {
  log.error('a Home could not be published', describeDefect(error));
}
