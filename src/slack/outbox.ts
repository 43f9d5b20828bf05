import type { KnownBlock, ModalView } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { Channels } from '../access/grants.ts';
import type { OutcomeThreads } from '../core/directory.ts';
import type { Caller } from '../core/entry.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../core/ids.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Card } from '../requests/decision.ts';
import type { ActMessages } from '../servers/ports.ts';
import type { System } from '../system.ts';
import type { EndStep } from './dispatch-events.ts';
import { withFallback } from './failures.ts';
import type { TouchHome } from './home-publisher.ts';
import { type Message, textMessage } from './kit/blocks.ts';
import { mention } from './kit/text.ts';
import { isProven } from './refusals.ts';
import { type Confirmer, createStoredReply, type StoredReplyParts } from './reply.ts';
import type { Announcement, Reply, RequestParts, Ways } from './request.ts';
import type { SlackApi, SlackClients } from './slack-api.ts';
import type { AcknowledgedViews, FollowedViews } from './views.ts';

/** What is sent later, when no request is at hand: outcomes, cards, and the progress shown in open modals. */
export interface Outbox extends SinglePosts {
  /** Ephemerally to the user who confirmed it, by the reply path that was stored with their form. */
  replyTo(confirmer: Confirmer): Reply;
  /** As a direct message; true when Slack took it. */
  sendDirectly(workspaceId: WorkspaceId, userId: UserId, message: Message): Promise<boolean>;
  /** Channels that are shared with other organizations, or may be, are left out. */
  postCards(
    workspaceId: WorkspaceId,
    recipients: readonly (UserId | ChannelId)[],
    message: Message,
  ): Promise<readonly Card[]>;
  editCards(workspaceId: WorkspaceId, cards: readonly Card[], message: Message): Promise<boolean>;
  /** Shows a view in the modal that follows this confirmation; `isFinal` ends the following. */
  updateFollowed(
    confirmer: Confirmer,
    view: () => ModalView,
    options: { readonly isFinal: boolean },
  ): Promise<void>;
  /** Edits a message in a channel, without getting in the way of what users press. */
  readonly editPaced: PacedEdit;
  /** Announces in a channel what no user did; undefined where nothing is announced. */
  announceIn(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<Card | undefined>;
  /** Tells Slack how a step in a workflow ended. */
  readonly endStep: EndStep;
  /** Announces in the channel that it has begun, if the workspace announces changes. */
  startAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits that announcement, if there is one. */
  updateAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Announces its outcome in the channel where it was confirmed: in place of the announcement that it has begun. */
  announce(confirmer: Confirmer, message: Message): Promise<boolean>;
}

interface OutboxParts extends StoredReplyParts {
  readonly channels: Pick<Channels, 'isShared'>;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly actMessages: Pick<ActMessages, 'find' | 'put'>;
  readonly touchHome: TouchHome;
  readonly endStep: EndStep;
}

/** Builds the outbox of all workspaces. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clients, mayAnnounce, touchHome } = parts;
  const replyTo = (confirmer: Confirmer) => {
    touchHome(confirmer.workspaceId, confirmer.userId);
    return createStoredReply(confirmer, parts);
  };
  const announcements = createAnnouncements({ ...parts, clients, mayAnnounce, replyTo });
  const singlePosts = createSinglePosts(parts);
  return {
    replyTo,
    sendDirectly: async (workspaceId, userId, message) => {
      touchHome(workspaceId, userId);
      const slack = clients.of(workspaceId);
      return (await withFallback(message, (shown) => slack.post(userId, shown))).ok;
    },
    postCards: async (workspaceId, recipients, message) => {
      for (const id of recipients) if (!isChannel(id)) touchHome(workspaceId, id);
      const allowed = await Promise.all(recipients.map((id) => mayReceive(workspaceId, id, parts.channels)));
      const chosen = recipients.filter((_, at) => allowed[at]);
      return postCards(chosen, message, clients.of(workspaceId));
    },
    editCards: (workspaceId, cards, message) => editCards(cards, message, clients.of(workspaceId)),
    ...singlePosts,
    updateFollowed: createFollowedUpdates(parts),
    editPaced: createPacedEdits(parts),
    announceIn: async (workspaceId, channelId, message) => {
      if (!(await mayAnnounce(workspaceId, channelId))) return undefined;
      const posted = await singlePosts.postOnce(workspaceId, channelId, message);
      return posted.kind === 'posted' ? posted.card : undefined;
    },
    endStep: parts.endStep,
    startAnnouncement: announcements.start,
    updateAnnouncement: announcements.update,
    announce: announcements.finish,
  };
}

function createFollowedUpdates({
  followedViews,
  acknowledgedViews,
  clients,
}: OutboxParts): Outbox['updateFollowed'] {
  return async ({ confirmationId, workspaceId }, view, { isFinal }) => {
    const viewId = followedViews.take(confirmationId);
    if (viewId === undefined) return;
    if (!isFinal) followedViews.set(confirmationId, viewId);
    const shown = view();
    // Nothing waits for it: the user may have closed it, and gets a message all the same.
    void acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, shown));
  };
}

/** Cards name servers, prices and users: no channel gets them in which another organization might read along. */
async function mayReceive(
  workspaceId: WorkspaceId,
  recipient: UserId | ChannelId,
  channels: OutboxParts['channels'],
): Promise<boolean> {
  return !isChannel(recipient) || (await channels.isShared(workspaceId, recipient)) === false;
}

function isChannel(recipient: UserId | ChannelId): recipient is ChannelId {
  return /^[CG]/.test(recipient);
}

/** One request must not flood Slack or the team. */
const MOST_CARDS = 10;

/**
 * Posts the same message to users and channels side by side, each once, ten at most.
 * Recipients that can't be reached are left out, which is no error.
 */
export async function postCards(
  recipients: readonly string[],
  message: Message,
  slack: SlackApi,
): Promise<readonly Card[]> {
  const chosen = [...new Set(recipients)].slice(0, MOST_CARDS);
  const answers = await Promise.all(
    chosen.map((recipient) => withFallback(message, (shown) => slack.post(recipient, shown))),
  );
  return answers.flatMap((answer) => (answer.ok ? [{ channelId: answer.channelId, ts: answer.ts }] : []));
}

/**
 * Shows another message in place of the cards, side by side; one that is gone is left alone. Returns whether Slack took
 * all of them.
 */
export async function editCards(cards: readonly Card[], message: Message, slack: SlackApi): Promise<boolean> {
  const answers = await Promise.all(
    cards.map((card) => withFallback(message, (shown) => slack.updateMessage(card, shown))),
  );
  return answers.every(({ ok }) => ok);
}

type AnnounceParts = Pick<RequestParts, 'mayAnnounce' | 'clients' | 'channels'>;

/**
 * Tells the channel, or the thread that the user acts in, what they did: as a message of the bot's, which can be edited;
 * where the bot is no member, through the reply path, where it can't.
 */
export async function announce(
  { action, more }: { readonly action: string; readonly more: readonly KnownBlock[] },
  { mayAnnounce, clients, channels }: AnnounceParts,
  { actor }: Caller,
  ways: Ways,
): Promise<Announcement | undefined> {
  const { workspaceId, channelId, userId } = actor;
  if (channelId === undefined) return undefined;
  if (!(await mayAnnounce(workspaceId, channelId))) {
    const isHidden = ways.thread && !channelId.startsWith('D');
    if (isHidden && (await channels.look(workspaceId, channelId)) === 'unknown') await askForInvite(ways);
    return undefined;
  }
  const message = textMessage(`${mention(userId)} ${action}`, ...more);
  const slack = clients.of(workspaceId);
  const posted = await slack.post(channelId, message, ways.thread?.ts);
  if (posted.ok) return { message: { channelId: posted.channelId, ts: posted.ts } };
  const isTold = await ways.reply.announce(message);
  if (posted.error === 'not_in_channel') await askForInvite(ways);
  return isTold ? {} : undefined;
}

/** A thread is followed by those who deal with an alert: without the app in the channel, they don't hear how it ends. */
async function askForInvite({ reply, thread }: Ways): Promise<void> {
  if (thread) await reply.send(textMessage(INVITE));
}

const INVITE =
  'This app isn’t in this channel, so it can’t tell the thread how this ends. Invite it with `/invite @vps`.';

/** Whether changes are announced in this channel. */
export type MayAnnounce = (workspaceId: WorkspaceId, channelId: ChannelId | undefined) => Promise<boolean>;

/** One message in the channel for each confirmation, edited as it proceeds. */
interface Announcements {
  /** Posts it, where the app may post in the channel. */
  start(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits it, if there is one. */
  update(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits it for the last time; posts it if there is none. True when Slack took it. */
  finish(confirmer: Confirmer, message: Message): Promise<boolean>;
}

interface AnnouncementParts {
  readonly clients: SlackClients;
  readonly mayAnnounce: MayAnnounce;
  readonly outcomeThreads: Pick<OutcomeThreads, 'find'>;
  readonly actMessages: Pick<ActMessages, 'find' | 'put'>;
  readonly system: Pick<System, 'now'>;
  readonly replyTo: (confirmer: Confirmer) => Reply;
}

const MOST_REMEMBERED = 1000;
/** Longer than an order can wait for its approval and then for its outcome. */
const MESSAGE_MS = 60 * DAY_MS;

/** Remembers where it has announced what, also after a restart. */
function createAnnouncements(parts: AnnouncementParts): Announcements {
  const { clients, mayAnnounce, outcomeThreads, actMessages, system, replyTo } = parts;
  // One that is being posted is waited for.
  const posting = new LRUCache<ConfirmationId, Promise<Card | undefined>>({ max: MOST_REMEMBERED });
  const post = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    const threadTs = (await outcomeThreads.find(confirmationId))?.ts;
    const posted = await withFallback(message, (shown) => slack.post(channelId, shown, threadTs));
    if (!posted.ok) return undefined;
    const card = { channelId: posted.channelId, ts: posted.ts };
    await actMessages.put(confirmationId, workspaceId, card, system.now() + MESSAGE_MS);
    return card;
  };
  const edit = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    const card = (await posting.get(confirmationId)) ?? (await actMessages.find(confirmationId));
    // Another organization may have been invited to the channel since.
    if (!card || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    return (await withFallback(message, (shown) => slack.updateMessage(card, shown))).ok;
  };
  return {
    start: async (confirmer, message) => {
      const posted = post(confirmer, message).catch(() => undefined);
      posting.set(confirmer.confirmationId, posted);
      await posted;
    },
    update: async (confirmer, message) => {
      await edit(confirmer, message);
    },
    finish: async (confirmer, message) => {
      const isEdited = await edit(confirmer, message);
      posting.delete(confirmer.confirmationId);
      if (isEdited !== undefined) return isEdited;
      if (!(await mayAnnounce(confirmer.workspaceId, confirmer.channelId))) return false;
      return (await post(confirmer, message)) !== undefined || replyTo(confirmer).announce(message);
    },
  };
}

/** A message that must not be posted twice, and is edited later. Other organizations never read it. */
interface SinglePosts {
  /** Posts to a channel, and says what Slack has proven of it. */
  postOnce(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<PostedOnce>;
  editOne(workspaceId: WorkspaceId, card: Card, message: Message): Promise<EditedPost>;
}

type PostedOnce =
  | { readonly kind: 'posted'; readonly card: Card }
  /** Slack's error code: nothing was posted. */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** When Slack takes it, where it has had too many (`Retry-After`). */
      readonly retryAfterMs?: number;
    }
  /** No answer, or none that says: it may have been posted. */
  | { readonly kind: 'unknown' };

/** `gone`: it can't be edited any more. */
type EditedPost = 'shown' | 'gone' | 'failed';

interface PostParts {
  readonly clients: SlackClients;
  readonly channels: Pick<Channels, 'isShared'>;
}

/** Makes both for all workspaces. Where Slack does not say who reads a channel, nothing is posted there. */
function createSinglePosts({ clients, channels }: PostParts): SinglePosts {
  return {
    postOnce: async (workspaceId, channelId, message) => {
      const isShared = await channels.isShared(workspaceId, channelId);
      if (isShared !== false)
        return { kind: 'refused', reason: isShared ? 'channel_is_shared' : 'channel_unreadable' };
      const slack = clients.of(workspaceId);
      const answer = await withFallback(message, (shown) => slack.post(channelId, shown));
      if (answer.ok) return { kind: 'posted', card: { channelId: answer.channelId, ts: answer.ts } };
      const { error: reason, retryAfterMs } = answer;
      return isProven(reason) ? { kind: 'refused', reason, retryAfterMs } : { kind: 'unknown' };
    },
    editOne: async (workspaceId, card, message) => {
      const isShared = await channels.isShared(workspaceId, card.channelId);
      if (isShared !== false) return isShared ? 'gone' : 'failed';
      const slack = clients.of(workspaceId);
      const answer = await withFallback(message, (shown) => slack.updateMessage(card, shown));
      if (answer.ok) return 'shown';
      return MESSAGE_GONE.includes(answer.error) ? 'gone' : 'failed';
    },
  };
}

/** Slack's codes for a message that can't be edited any more. `channel_not_found`: also where the app was removed from a private channel. */
const MESSAGE_GONE: readonly string[] = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
  'is_archived',
  'not_in_channel',
];

/** The result of an edit in the background. */
type Edited =
  | { readonly kind: 'shown' }
  /** The message was deleted, or its channel may no longer get it. */
  | { readonly kind: 'gone' }
  /** Nothing was sent, or Slack didn't take it: what is shown then should be what is true then. */
  | { readonly kind: 'later'; readonly afterMs: number };

/** Edits a message in a channel for the background: once, and never in the way of what users press. */
type PacedEdit = (workspaceId: WorkspaceId, card: Card, message: Message) => Promise<Edited>;

interface EditParts {
  readonly clients: SlackClients;
  readonly channels: Pick<Channels, 'isShared'>;
  readonly mayAnnounce: MayAnnounce;
  readonly system: Pick<System, 'elapsed'>;
}

/** Slack takes about 50 `chat.update` a minute of an app in a workspace: half of them stay for what users press. */
const EDITS_A_MINUTE = 25;
const AGAIN_MS = 15_000;
const MOST_WORKSPACES = 1000;

export function createPacedEdits({ clients, channels, mayAnnounce, system }: EditParts): PacedEdit {
  const paces = new LRUCache<WorkspaceId, Pace>({ max: MOST_WORKSPACES });
  const paceOf = (workspaceId: WorkspaceId) => {
    const pace = paces.get(workspaceId) ?? { edits: [], quietUntil: 0 };
    paces.set(workspaceId, pace);
    return pace;
  };
  return async (workspaceId, card, message) => {
    if (!(await mayAnnounce(workspaceId, card.channelId))) {
      const isShared = await channels.isShared(workspaceId, card.channelId);
      return isShared === undefined ? { kind: 'later', afterMs: AGAIN_MS } : { kind: 'gone' };
    }
    const pace = paceOf(workspaceId);
    const waitMs = takeTurn(pace, system.elapsed());
    if (waitMs > 0) return { kind: 'later', afterMs: waitMs };
    const slack = clients.of(workspaceId);
    const answer = await withFallback(message, (shown) => slack.updateMessage(card, shown, false));
    if (answer.ok) return { kind: 'shown' };
    if (MESSAGE_GONE.includes(answer.error)) return { kind: 'gone' };
    const { retryAfterMs: afterMs = AGAIN_MS } = answer;
    if (answer.retryAfterMs !== undefined) pace.quietUntil = system.elapsed() + afterMs;
    return { kind: 'later', afterMs };
  };
}

/** The edits of one workspace, on the monotonic clock. */
interface Pace {
  edits: number[];
  /** Slack said that there were too many. */
  quietUntil: number;
}

/** How long to wait for a turn; 0 when this is one. */
function takeTurn(pace: Pace, now: number): number {
  if (pace.quietUntil > now) return pace.quietUntil - now;
  pace.edits = pace.edits.filter((at) => now - at < MINUTE_MS);
  const [oldest = now] = pace.edits;
  if (pace.edits.length >= EDITS_A_MINUTE) return MINUTE_MS - (now - oldest);
  pace.edits.push(now);
  return 0;
}

interface Answer {
  readonly ok: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** The longest that a message to a channel waits for its turn; the background posts later what matters longer. */
const TURN_MOST_MS = 30_000;
const TRIES = 3;

/**
 * Repeats a call that Slack's rate limit refused, when Slack takes such calls again; three times at most, or only once if it's
 * not patient.
 */
export async function inTurn<Answered extends Answer>(
  system: Pick<System, 'sleep'>,
  send: () => Promise<Answered>,
  isPatient = true,
): Promise<Answered> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (answer.ok || answer.retryAfterMs === undefined) return answer;
    if (!isPatient || tries === TRIES || answer.retryAfterMs > TURN_MOST_MS) return answer;
    await system.sleep(answer.retryAfterMs);
  }
}
