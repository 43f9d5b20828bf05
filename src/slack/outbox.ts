import type { KnownBlock, ModalView } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../core/entry.ts';
import { describeDefect } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, PostedMessage, UserId, WorkspaceId } from '../core/ids.ts';
import { DAY_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Updated } from '../servers/follow.ts';
import type { StepEnd, StepEvent } from '../workflows/run.ts';
import type { Channels, Users } from './directory.ts';
import type { TouchHome } from './home-publisher.ts';
import { type Message, textMessage } from './kit/blocks.ts';
import { mention } from './kit/text.ts';
import type { StepOutputs } from './payloads.ts';
import { isProven, isTokenRefused } from './refusals.ts';
import { type Confirmer, createStoredReply, type StoredReplyParts } from './reply.ts';
import type {
  AcknowledgedViews,
  Announcement,
  FollowedViews,
  Reply,
  ReplyTarget,
  RequestParts,
} from './request.ts';
import type { SlackApi, SlackClients, SlackConnections } from './slack-api.ts';

export interface NotifierParts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly users: Users;
  readonly currency: string;
  readonly accountUrl: string | undefined;
}

/**
 * Tries to send or edit a message, and returns `otherwise` if that throws. Logs the failure: it must not undo what the message is
 * about. `id` is for the log.
 */
export async function notifySafely<Result>(
  id: string,
  log: Log,
  otherwise: Result,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    log.warn('a message could not be sent or edited in Slack', { id, ...describeDefect(error) });
    return otherwise;
  }
}

interface OutboxParts extends StoredReplyParts {
  readonly channels: Channels;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly touchHome: TouchHome;
  readonly endStep: EndStep;
}

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Sends what isn't the answer to a request: outcomes, cards, and progress in open modals. Booleans say whether Slack took the
 * message.
 */
export function createOutbox(parts: OutboxParts) {
  const { clients, channels, mayAnnounce, touchHome, followedViews, acknowledgedViews } = parts;
  /** Returns the replies to the user who confirmed something, through the URL that was stored with their form. */
  const replyTo = (confirmer: Confirmer): Reply => {
    touchHome(confirmer.workspaceId, confirmer.userId);
    return createStoredReply(confirmer, parts);
  };
  const sendDirectly = async (
    workspaceId: WorkspaceId,
    userId: UserId,
    message: Message,
  ): Promise<boolean> => {
    touchHome(workspaceId, userId);
    return (await clients.of(workspaceId).post(userId, message)).ok;
  };
  /** Posts a message, unless other organizations may read it; returns what Slack's answer proves. */
  const postOnce = async (
    workspaceId: WorkspaceId,
    channelId: ChannelId,
    message: Message,
  ): Promise<PostedOnce> => {
    const isShared = await channels.isShared(workspaceId, channelId);
    if (isShared !== false)
      return { kind: 'refused', reason: isShared ? 'channel_is_shared' : 'channel_unreadable' };
    const answer = await clients.of(workspaceId).post(channelId, message);
    if (answer.ok) return { kind: 'posted', card: { channelId: answer.channelId, ts: answer.ts } };
    const { error: reason } = answer;
    return isProven(reason) ? { kind: 'refused', reason } : { kind: 'unknown', reason };
  };
  return {
    replyTo,
    postOnce,
    sendDirectly,
    /** Replies to the user who confirmed something, or sends them a direct message if Slack doesn't take the reply. */
    notifyConfirmer: async (confirmer: Confirmer, message: Message): Promise<boolean> =>
      (await replyTo(confirmer).send(message)) ||
      sendDirectly(confirmer.workspaceId, confirmer.userId, message),
    /** Posts a card in the channel, unless other organizations may read it; to these users, ten at most, if that isn't possible. */
    postCards: async (
      workspaceId: WorkspaceId,
      { channelId, userIds }: { readonly channelId?: ChannelId; readonly userIds: readonly UserId[] },
      message: Message,
    ) => {
      const slack = clients.of(workspaceId);
      if (channelId !== undefined && (await channels.isShared(workspaceId, channelId)) === false) {
        const posted = await postCards([channelId], message, slack);
        if (posted.length > 0) return posted;
      }
      for (const userId of userIds) touchHome(workspaceId, userId);
      return postCards(userIds, message, slack);
    },
    editCards: async (
      workspaceId: WorkspaceId,
      cards: readonly PostedMessage[],
      message: Message,
    ): Promise<boolean> => {
      const slack = clients.of(workspaceId);
      const answers = await Promise.all(cards.map((card) => slack.updateMessage(card, message)));
      return answers.every(({ ok }) => ok);
    },
    ...createEdits(parts),
    /** Shows a view in the modal that follows this confirmation, if there is one; `isFinal` ends the following. */
    updateFollowed: async (
      { confirmationId, workspaceId }: Confirmer,
      view: () => ModalView,
      { isFinal }: { readonly isFinal: boolean },
    ): Promise<void> => {
      const viewId = followedViews.get(confirmationId);
      if (viewId === undefined) return;
      if (isFinal) followedViews.delete(confirmationId);
      const shown = view();
      // Nothing waits for this: the user may have closed the modal, and gets a message in any case.
      void acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, shown));
    },
    /** Reacts to the message that was acted on, so that everyone who scrolls past it sees the outcome. */
    react: async (workspaceId: WorkspaceId, message: PostedMessage, isDone: boolean): Promise<void> => {
      // The thread says the same in words, so a refusal doesn't matter: the scope is optional.
      await clients.of(workspaceId).react(message, isDone ? 'white_check_mark' : 'warning');
    },
    /** Posts an announcement about what no user did; undefined if none was posted. */
    announceIn: async (workspaceId: WorkspaceId, channelId: ChannelId, message: Message) => {
      if (!(await mayAnnounce(workspaceId, channelId))) return undefined;
      const posted = await postOnce(workspaceId, channelId, message);
      return posted.kind === 'posted' ? posted.card : undefined;
    },
    endStep: parts.endStep,
    ...createAnnouncements(parts, replyTo),
  };
}

/**
 * `refused`: nothing was posted. `unknown`: Slack's answer is missing or proves nothing, so it may have been. `reason`: Slack's error
 * code, or one of the app's.
 */
type PostedOnce =
  | { readonly kind: 'posted'; readonly card: PostedMessage }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason?: string };

/** Slack's codes for a message that can't be edited any more; `channel_not_found` also after the app left a private channel. */
const MESSAGE_GONE: readonly string[] = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
  'is_archived',
  'not_in_channel',
];

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
): Promise<readonly PostedMessage[]> {
  const chosen = [...new Set(recipients)].slice(0, MOST_CARDS);
  const answers = await Promise.all(chosen.map((recipient) => slack.post(recipient, message)));
  return answers.flatMap((answer) => (answer.ok ? [{ channelId: answer.channelId, ts: answer.ts }] : []));
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
  'This app isn’t in this channel, so it can’t post the outcome in this thread. Invite it with `/invite @vps`.';

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
  replyTo: (confirmer: Confirmer) => Reply,
) {
  // Edits wait for the announcement that is being posted.
  const posting = new LRUCache<ConfirmationId, Promise<PostedMessage | undefined>>({ max: MOST_REMEMBERED });
  const post = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const threadTs = (await kept.find('thread', confirmationId))?.ts;
    const posted = await clients.of(workspaceId).post(channelId, message, threadTs);
    if (!posted.ok) return undefined;
    const card = { channelId: posted.channelId, ts: posted.ts };
    await kept.put('message', confirmationId, workspaceId, card, system.now() + MESSAGE_MS);
    return card;
  };
  const edit = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    const card = (await posting.get(confirmationId)) ?? (await kept.find('message', confirmationId));
    // Another organization may have been invited to the channel since.
    if (!card || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    return (await clients.of(workspaceId).updateMessage(card, message)).ok;
  };
  return {
    /** Announces the beginning of what was confirmed, in the channel of the confirmation, if the workspace announces changes. */
    startAnnouncement: async (confirmer: Confirmer, message: Message) => {
      const posted = post(confirmer, message).catch(() => undefined);
      posting.set(confirmer.confirmationId, posted);
      await posted;
    },
    updateAnnouncement: edit,
    /** Announces the outcome there, in place of the announcement of the beginning. */
    announce: async (confirmer: Confirmer, message: Message): Promise<boolean> => {
      const isEdited = await edit(confirmer, message);
      posting.delete(confirmer.confirmationId);
      if (isEdited !== undefined) return isEdited;
      if (!(await mayAnnounce(confirmer.workspaceId, confirmer.channelId))) return false;
      return (await post(confirmer, message)) !== undefined || replyTo(confirmer).announce(message);
    },
  };
}

/** After how long an edit is tried again, if Slack doesn't say. */
const AGAIN_MS = 15_000;

/** Creates the edits of what was posted in a channel. Nothing is shown where other organizations may read it. */
export function createEdits({
  clients,
  channels,
  mayAnnounce,
}: Pick<OutboxParts, 'clients' | 'channels' | 'mayAnnounce'>) {
  const edit = async (
    workspaceId: WorkspaceId,
    card: PostedMessage,
    message: Message,
    isPatient = true,
  ): Promise<Updated> => {
    const isShared = await channels.isShared(workspaceId, card.channelId);
    if (isShared !== false) return isShared ? { kind: 'gone' } : { kind: 'later', afterMs: AGAIN_MS };
    const answer = await clients.of(workspaceId).updateMessage(card, message, isPatient);
    if (answer.ok) return { kind: 'shown' };
    if (MESSAGE_GONE.includes(answer.error)) return { kind: 'gone' };
    return { kind: 'later', afterMs: answer.retryAfterMs ?? AGAIN_MS };
  };
  return {
    edit,
    /** Edits an announcement for the background, which doesn't wait for Slack's rate limit; not once owners have turned these off. */
    editAnnouncement: async (
      workspaceId: WorkspaceId,
      card: PostedMessage,
      message: Message,
    ): Promise<Updated> => {
      const { channelId } = card;
      const isOff =
        !(await mayAnnounce(workspaceId, channelId)) &&
        (await channels.isShared(workspaceId, channelId)) === false;
      return isOff ? { kind: 'gone' } : edit(workspaceId, card, message, false);
    },
  };
}

export type EndStep = ReturnType<typeof createEndStep>;

/** Slack's codes for outputs that don't match the manifest. */
const BAD_OUTPUTS = ['parameter_validation_failed', 'invalid_arguments'];

/** Slack's code for an execution that it doesn't know, perhaps only with this token. */
const NOT_FOUND = 'function_execution_not_found';

/**
 * Creates the report of a step's end (`functions.completeSuccess`, `functions.completeError`), which never throws. Tries the token of
 * the execution, whose lifetime Slack doesn't document, and then the app's own. Users see `error` as it is, in plain text.
 */
export function createEndStep(open: SlackConnections['open'], clients: SlackClients) {
  return async (
    { workspaceId, executionId, token }: Pick<StepEvent, 'workspaceId' | 'executionId' | 'token'>,
    result: { readonly outputs: StepOutputs } | { readonly error: string },
  ): Promise<StepEnd> => {
    const ofRun = token ? [open(async () => ({ token }))] : [];
    const errors: string[] = [];
    for (const slack of [...ofRun, clients.of(workspaceId)]) {
      const answer = await ('outputs' in result
        ? slack.completeStep(executionId, result.outputs)
        : slack.failStep(executionId, result.error));
      if (answer.ok || answer.error === 'execution_not_in_running_state') return 'told';
      if ('outputs' in result && BAD_OUTPUTS.includes(answer.error)) return 'refused_outputs';
      errors.push(answer.error);
    }
    // No further try with the same tokens can end the execution.
    const isHopeless = errors.every((error) => error === NOT_FOUND || isTokenRefused(error));
    return isHopeless && errors.at(-1) === NOT_FOUND ? 'told' : 'later';
  };
}
