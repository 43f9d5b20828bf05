import type { KnownBlock, ModalView } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { Channels } from '../access/grants.ts';
import type { CurrencyOf } from '../account/workspaces.ts';
import type { Users } from '../core/directory.ts';
import type { Caller } from '../core/entry.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Card } from '../requests/request.ts';
import type { Updated } from '../servers/follow.ts';
import type { System } from '../system.ts';
import type { StepEnd } from '../workflows/run.ts';
import { isTokenRefused } from './abilities.ts';
import { withFallback } from './failures.ts';
import type { TouchHome } from './home-publisher.ts';
import { type Message, textMessage } from './kit/blocks.ts';
import type { StepOutputs } from './kit/home-view.ts';
import { mention } from './kit/text.ts';
import { isProven } from './refusals.ts';
import { type Confirmer, createStoredReply, type StoredReplyParts } from './reply.ts';
import type {
  AcknowledgedViews,
  Announcement,
  FollowedViews,
  Reply,
  ReplyTarget,
  RequestParts,
} from './request.ts';
import type { SlackAnswer, SlackApi, SlackClients, SlackConnections } from './slack-api.ts';

/**
 * Sends what isn't the answer to a request: outcomes, cards, and progress in open modals. Booleans say whether Slack took the
 * message.
 */
export interface Outbox extends SinglePosts {
  /** Returns the replies to the user who confirmed something, through the URL that was stored with their form. */
  replyTo(confirmer: Confirmer): Reply;
  /** Sends a direct message. */
  sendDirectly(workspaceId: WorkspaceId, userId: UserId, message: Message): Promise<boolean>;
  /** Posts a card to users and channels, ten at most; leaves out channels that other organizations may read. */
  postCards(
    workspaceId: WorkspaceId,
    recipients: readonly (UserId | ChannelId)[],
    message: Message,
  ): Promise<readonly Card[]>;
  /** Replaces the message of posted cards; true if Slack took all. */
  editCards(workspaceId: WorkspaceId, cards: readonly Card[], message: Message): Promise<boolean>;
  /** Shows a view in the modal that follows this confirmation, if there is one; `isFinal` ends the following. */
  updateFollowed(
    confirmer: Confirmer,
    view: () => ModalView,
    options: { readonly isFinal: boolean },
  ): Promise<void>;
  /** Edits a message in a channel for the background, without using up the edits that presses need. */
  readonly editPaced: PacedEdit;
  /** Reacts to the message that was acted on, for everyone who scrolls by. Does nothing where the app may not react. */
  react(workspaceId: WorkspaceId, message: Card, isDone: boolean): Promise<void>;
  /** Posts an announcement about what no user did; undefined if none was posted. */
  announceIn(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<Card | undefined>;
  /** Reports to Slack how a workflow's step ended. */
  readonly endStep: EndStep;
  /** Announces the beginning of what was confirmed, in the channel of the confirmation, if the workspace announces changes. */
  startAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits that announcement, if there is one. */
  updateAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Announces the outcome there, in place of the announcement of the beginning. */
  announce(confirmer: Confirmer, message: Message): Promise<boolean>;
}

/** What tells users of something is made of these. */
export interface NotifierParts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly users: Users;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

interface OutboxParts extends StoredReplyParts {
  readonly channels: Channels;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly touchHome: TouchHome;
  readonly endStep: EndStep;
}

/** Creates the outbox for all workspaces. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clients, mayAnnounce, touchHome } = parts;
  const replyTo = (confirmer: Confirmer) => {
    touchHome(confirmer.workspaceId, confirmer.userId);
    return createStoredReply(confirmer, parts);
  };
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
    react: (workspaceId, message, isDone) => react(clients.of(workspaceId), message, isDone),
    announceIn: async (workspaceId, channelId, message) => {
      if (!(await mayAnnounce(workspaceId, channelId))) return undefined;
      const posted = await singlePosts.postOnce(workspaceId, channelId, message);
      return posted.kind === 'posted' ? posted.card : undefined;
    },
    endStep: parts.endStep,
    ...createAnnouncements(parts, replyTo),
  };
}

/** ✅ or ⚠️ on a message. The thread says the same in words, so a refusal doesn't matter: the scope is optional. */
export async function react(slack: SlackApi, message: Card, isDone: boolean): Promise<void> {
  await slack.react(message, isDone ? 'white_check_mark' : 'warning');
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
    // Nothing waits for this: the user may have closed the modal, and gets a message in any case.
    void acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, shown));
  };
}

/** Whether a recipient may get cards, which name servers, prices and users: not a channel that others may read. */
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

/** The most recipients of one card, so that a request doesn't flood Slack or the team. */
const MOST_CARDS = 10;

/**
 * Posts a message to users and channels side by side, to each once and to ten at most. Returns the posted cards: recipients that
 * Slack doesn't reach have none.
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

/** Replaces the message of cards, side by side. True if Slack took all of them. */
export async function editCards(cards: readonly Card[], message: Message, slack: SlackApi): Promise<boolean> {
  const answers = await Promise.all(
    cards.map((card) => withFallback(message, (shown) => slack.updateMessage(card, shown))),
  );
  return answers.every(({ ok }) => ok);
}

/**
 * Announces what a user did, in their channel or thread: as a message of the bot, which can be edited later, or where the bot is no
 * member through the reply URL, which leaves nothing to edit. Undefined if nothing was announced.
 */
export async function announce(
  { action, more }: { readonly action: string; readonly more: readonly KnownBlock[] },
  { mayAnnounce, clients, channels }: RequestParts,
  { actor }: Caller,
  target: ReplyTarget,
): Promise<Announcement | undefined> {
  const { workspaceId, channelId, userId } = actor;
  if (channelId === undefined) return undefined;
  if (!(await mayAnnounce(workspaceId, channelId))) {
    const isHidden = target.thread && !channelId.startsWith('D');
    if (isHidden && (await channels.look(workspaceId, channelId)) === 'unknown') await askForInvite(target);
    return undefined;
  }
  const message = textMessage(`${mention(userId)} ${action}`, ...more);
  const slack = clients.of(workspaceId);
  const posted = await slack.post(channelId, message, target.thread?.ts);
  if (posted.ok) return { message: { channelId: posted.channelId, ts: posted.ts } };
  const isPosted = await target.reply.announce(message);
  if (posted.error === 'not_in_channel') await askForInvite(target);
  return isPosted ? {} : undefined;
}

/** Asks the user to invite the app, if they act in a thread: the others who read it would not get the outcome. */
async function askForInvite({ reply, thread }: ReplyTarget): Promise<void> {
  if (thread) await reply.send(textMessage(INVITE));
}

const INVITE =
  'This app isn’t in this channel, so it can’t tell the thread how this ends. Invite it with `/invite @vps`.';

/** Whether changes are announced in a channel; false without a channel. */
export type MayAnnounce = (workspaceId: WorkspaceId, channelId: ChannelId | undefined) => Promise<boolean>;

const MOST_REMEMBERED = 1000;
/** How long an announcement is remembered: longer than an order can wait for its approval and its outcome. */
const MESSAGE_MS = 60 * DAY_MS;

/**
 * Creates the announcements of confirmations, each one message in the channel that is edited as the order proceeds. They are
 * stored, so that any process can edit them.
 */
function createAnnouncements(
  { clients, mayAnnounce, kept, system }: OutboxParts,
  replyTo: Outbox['replyTo'],
) {
  // Edits wait for the announcement that is being posted.
  const posting = new LRUCache<ConfirmationId, Promise<Card | undefined>>({ max: MOST_REMEMBERED });
  const post = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    const threadTs = (await kept.find('thread', confirmationId))?.ts;
    const posted = await withFallback(message, (shown) => slack.post(channelId, shown, threadTs));
    if (!posted.ok) return undefined;
    const card = { channelId: posted.channelId, ts: posted.ts };
    await kept.put('message', confirmationId, workspaceId, card, system.now() + MESSAGE_MS);
    return card;
  };
  const edit = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    const card = (await posting.get(confirmationId)) ?? (await kept.find('message', confirmationId));
    // Another organization may have been invited to the channel since.
    if (!card || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    return (await withFallback(message, (shown) => slack.updateMessage(card, shown))).ok;
  };
  return {
    startAnnouncement: async (confirmer: Confirmer, message: Message) => {
      const posted = post(confirmer, message).catch(() => undefined);
      posting.set(confirmer.confirmationId, posted);
      await posted;
    },
    updateAnnouncement: async (confirmer: Confirmer, message: Message) => {
      await edit(confirmer, message);
    },
    announce: async (confirmer: Confirmer, message: Message) => {
      const isEdited = await edit(confirmer, message);
      posting.delete(confirmer.confirmationId);
      if (isEdited !== undefined) return isEdited;
      if (!(await mayAnnounce(confirmer.workspaceId, confirmer.channelId))) return false;
      return (await post(confirmer, message)) !== undefined || replyTo(confirmer).announce(message);
    },
  };
}

/** Messages that must not be posted twice, and are edited later. Never posted where other organizations may read them. */
interface SinglePosts {
  /** Posts to a channel; returns what Slack's answer proves. */
  postOnce(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<PostedOnce>;
  /** Edits a posted message. */
  editOne(workspaceId: WorkspaceId, card: Card, message: Message): Promise<EditedPost>;
}

type PostedOnce =
  | { readonly kind: 'posted'; readonly card: Card }
  /** Nothing was posted. `reason`: Slack's error code, or one of the app's. */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** After how long Slack takes it, if there were too many (`Retry-After`). */
      readonly retryAfterMs?: number;
    }
  /** Slack's answer is missing, or proves nothing: the message may have been posted. */
  | { readonly kind: 'unknown' };

/** The result of an edit. `gone`: the message can't be edited any more. */
type EditedPost = 'shown' | 'gone' | 'failed';

/** Creates `SinglePosts`. Posts nothing where Slack does not say who reads the channel. */
function createSinglePosts({ clients, channels }: OutboxParts): SinglePosts {
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

/** Slack's codes for a message that can't be edited any more; `channel_not_found` also after the app left a private channel. */
const MESSAGE_GONE: readonly string[] = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
  'is_archived',
  'not_in_channel',
];

/** Edits a message in a channel for the background, without waiting. `later` after 25 edits in a minute: others are for presses. */
type PacedEdit = (workspaceId: WorkspaceId, card: Card, message: Message) => Promise<Updated>;

interface EditParts {
  readonly clients: SlackClients;
  readonly channels: Channels;
  readonly mayAnnounce: MayAnnounce;
  readonly system: System;
}

/** The most edits a minute: half of the about 50 `chat.update` that Slack takes of an app in a workspace. */
const EDITS_A_MINUTE = 25;
const AGAIN_MS = 15_000;
const MOST_WORKSPACES = 1000;

/** Creates the paced edits for all workspaces. */
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
  /** Until when Slack takes no edits, because there were too many. */
  quietUntil: number;
}

/** Takes a turn and returns 0, or returns the milliseconds until the next one. */
function takeTurn(pace: Pace, now: number): number {
  if (pace.quietUntil > now) return pace.quietUntil - now;
  pace.edits = pace.edits.filter((at) => now - at < MINUTE_MS);
  const [oldest = now] = pace.edits;
  if (pace.edits.length >= EDITS_A_MINUTE) return MINUTE_MS - (now - oldest);
  pace.edits.push(now);
  return 0;
}

/** An execution of the app's step that has ended. */
interface EndedStep {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** The token that Slack gave for this execution alone. */
  readonly token: Secret<string> | undefined;
}

/** The result of a step. Users see `error` as it is: plain text without secrets. */
type StepResult = { readonly outputs: StepOutputs } | { readonly error: string };

/** Reports to Slack how a step ended; never throws. */
export type EndStep = (step: EndedStep, result: StepResult) => Promise<StepEnd>;

/** Slack's codes for outputs that don't match the manifest. */
const BAD_OUTPUTS = ['parameter_validation_failed', 'invalid_arguments'];

/** Slack's code for an execution that it doesn't know, perhaps only with this token. */
const NOT_FOUND = 'function_execution_not_found';

/**
 * Creates the report of a step's end (`functions.completeSuccess`, `functions.completeError`). Tries the token of the execution,
 * whose lifetime Slack doesn't document, and then the app's own.
 */
export function createEndStep(connections: Pick<SlackConnections, 'open'>, clients: SlackClients): EndStep {
  return async ({ workspaceId, executionId, token }, result) => {
    const ofRun = token && connections.open(async () => ({ token }));
    const apis = [...(ofRun ? [ofRun] : []), clients.of(workspaceId)];
    const errors: string[] = [];
    for (const slack of apis) {
      const answer = await sendEnd(slack, executionId, result);
      if (answer.ok || answer.error === 'execution_not_in_running_state') return 'told';
      if ('outputs' in result && BAD_OUTPUTS.includes(answer.error)) return 'refused_outputs';
      errors.push(answer.error);
    }
    // No further try with the same tokens can end the execution.
    const isHopeless = errors.every((error) => error === NOT_FOUND || isTokenRefused(error));
    return isHopeless && errors.at(-1) === NOT_FOUND ? 'told' : 'later';
  };
}

function sendEnd(slack: SlackApi, executionId: string, result: StepResult): Promise<SlackAnswer> {
  return 'outputs' in result
    ? slack.completeStep(executionId, result.outputs)
    : slack.failStep(executionId, result.error);
}
