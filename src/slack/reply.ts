import type { KnownBlock, ModalView } from '@slack/types';
import { DatabaseUnreachable, describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, Thread, UserId, WorkspaceId } from '../core/ids.ts';
import type { Actor } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import type { Kept, ReplyUrls } from '../db/kept.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { WAITING_WORDS, wordsOfError, wordsOfUnreachable } from '../words.ts';
import { type Message, textMessage } from './kit/blocks.ts';
import { noticeView, type Origin } from './kit/form.ts';
import { decodeText } from './kit/text.ts';
import { type CardParts, cardView, readCard } from './kit/views.ts';
import type { PressedView, TypedMessage } from './payloads.ts';
import { holdsSecret } from './refusals.ts';
import type { Reply, SlackRequest, Views } from './request.ts';
import type { SlackAnswer, SlackApi, SlackClients } from './slack-api.ts';

/** The user who gets the replies, and where they acted. */
interface Addressee {
  readonly userId: UserId;
  readonly channelId?: ChannelId | undefined;
  /** The thread for outcomes. If it is open, the user is reading it. */
  readonly thread?: Thread | undefined;
}

/** Where a post to a `response_url` appears, in Slack's parameters. */
type ResponseOptions = Readonly<Record<string, unknown>>;
const EPHEMERALLY: ResponseOptions = { response_type: 'ephemeral', replace_original: false };
const IN_CHANNEL: ResponseOptions = { response_type: 'in_channel', replace_original: false };
const IN_PLACE: ResponseOptions = { replace_original: true };

/** Creates the replies to a command or a press, through its `response_url`: also in DMs and where the bot is no member. */
export function replyByUrl(url: Secret<string> | undefined, to: Addressee, slack: SlackApi): Reply {
  const findThread = async () => to.thread;
  return { ...createReply(async () => url, to, findThread, slack), url };
}

/** A confirmation: its user, and where it was made. */
export interface Confirmer {
  readonly confirmationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly channelId?: ChannelId | undefined;
  /** The form's thread, if the form itself has it; otherwise it is looked up. */
  readonly thread?: Thread | undefined;
}

export function confirmerOf({
  id: confirmationId,
  workspaceId,
  actorId: userId,
  channelId,
  thread,
}: Omit<Confirmer, 'confirmationId' | 'userId'> & {
  readonly id: ConfirmationId;
  readonly actorId: UserId;
}): Confirmer {
  return { confirmationId, workspaceId, userId, channelId, thread };
}

export interface StoredReplyParts {
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly kept: Kept;
  readonly system: System;
}

/** Creates the replies to a modal, through the `response_url` that was stored when its form was opened. */
export function createStoredReply(
  { confirmationId, workspaceId, channelId, userId, thread }: Confirmer,
  { clients, replyUrls, kept, system }: StoredReplyParts,
): Reply {
  const findUrl = () => replyUrls.use(confirmationId, system.now());
  const findThread = async () => thread ?? (await kept.find('thread', confirmationId));
  const reply = createReply(findUrl, { userId, channelId }, findThread, clients.of(workspaceId));
  return { ...reply, replace: reply.send };
}

/**
 * Creates replies through a `response_url` if one works, otherwise as an ephemeral message, or in the channel. In a thread that the
 * user reads, an ephemeral message comes first: one by a `response_url` would be in the channel, unseen. Except for a secret, since
 * Slack doesn't say whether it showed the ephemeral message.
 */
function createReply(
  findUrl: () => Promise<Secret<string> | undefined>,
  { userId, channelId }: Addressee,
  findThread: () => Promise<Thread | undefined>,
  slack: SlackApi,
): Reply {
  const byUrl = async (message: Message, options: ResponseOptions): Promise<boolean> => {
    const url = await findUrl();
    if (url === undefined) return false;
    const answer = await slack.respond(url, options, message);
    return answer.ok && (answer.saysOk || !holdsSecret(message));
  };
  /** Fails in DMs and where the bot is no member. */
  const ephemerally = async (message: Message, thread: Thread | undefined) => {
    if (channelId === undefined) return false;
    const threadTs = thread?.isOpen ? thread.ts : undefined;
    return (await slack.postEphemeral(channelId, userId, message, threadTs)).ok;
  };
  const send = async (message: Message) => {
    const thread = await findThread();
    const isForThread = thread?.isOpen === true && !holdsSecret(message);
    if (isForThread && (await ephemerally(message, thread))) return true;
    return (await byUrl(message, EPHEMERALLY)) || (!isForThread && (await ephemerally(message, thread)));
  };
  return {
    send,
    replace: async (message) => (await byUrl(message, IN_PLACE)) || ephemerally(message, await findThread()),
    edit: (message) => byUrl(message, IN_PLACE),
    announce: async (message) => {
      const thread = await findThread();
      if (await byUrl(message, { ...IN_CHANNEL, thread_ts: thread?.ts })) return true;
      // Fails where the bot is no member.
      return channelId !== undefined && (await slack.post(channelId, message, thread?.ts)).ok;
    },
  };
}

const NOT_SHOWN =
  'Slack didn’t confirm that it showed you the root password. If you don’t see all of it, run `/vps password` again.';

/**
 * Adds a direct message to replies as the last resort (docs/design.md 2.4). Never sends a secret directly: then the message says
 * that it could not be shown, and the reply returns false. Logs if Slack refuses that, too.
 */
export function withDirectMessage(reply: Reply, { userId }: Addressee, slack: SlackApi, log: Log): Reply {
  const answer = async (message: Message, first: (message: Message) => Promise<boolean>) => {
    const isTaken = await first(message).catch((error: unknown) => {
      log.warn('a reply could not be sent; trying a direct message', describeDefect(error));
      return false;
    });
    if (isTaken) return true;
    const isSecret = holdsSecret(message);
    const sent = await slack.post(userId, isSecret ? textMessage(NOT_SHOWN) : message);
    return wasSent(sent, userId, log) && !isSecret;
  };
  return {
    ...reply,
    send: (message) => answer(message, reply.send),
    replace: (message) => answer(message, reply.replace),
  };
}

function wasSent({ ok }: SlackAnswer, userId: UserId, log: Log): boolean {
  if (!ok) log.warn('a user got no answer: Slack refused every way to send it', { user: userId });
  return ok;
}

/** Reads a `response_url`; undefined unless it is an HTTPS address of Slack, or on the machine of `apiUrl`. */
export function findReplyUrl(given: unknown, apiUrl: string): Secret<string> | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  const isSlack = url.protocol === 'https:' && /(^|\.)slack(-gov)?\.com$/.test(url.hostname);
  const isEmulator = /^https?:$/.test(url.protocol) && isSameMachine(url, new URL(apiUrl));
  return isSlack || isEmulator ? new Secret(given) : undefined;
}

/** Whether an address is on the machine of `SLACK_API_URL`: an emulator of Slack gives out such addresses. */
function isSameMachine(url: URL, api: URL): boolean {
  const loopback = (name: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
  return url.hostname === api.hostname || (loopback(url.hostname) && loopback(api.hostname));
}

interface ReplyParts extends StoredReplyParts {
  readonly slackApiUrl: string;
  readonly log: Log;
}

/** Creates the replies to a user who sent a command or pressed a button, perhaps in a thread. */
export function replyTo(
  url: unknown,
  actor: Actor,
  { clients, slackApiUrl, log }: ReplyParts,
  thread?: Thread,
): Reply {
  const slack = clients.of(actor.workspaceId);
  const to = { ...actor, thread };
  return withDirectMessage(replyByUrl(findReplyUrl(url, slackApiUrl), to, slack), actor, slack, log);
}

export function replyFrom(origin: Origin | undefined, actor: Actor, parts: ReplyParts): Reply {
  if (!origin) return replyTo(undefined, actor, parts);
  const { workspaceId, userId } = actor;
  const { formId: confirmationId, channelId, thread } = origin;
  const confirmer = { confirmationId, workspaceId, userId, channelId, thread };
  const reply = createStoredReply(confirmer, parts);
  return withDirectMessage(reply, actor, parts.clients.of(workspaceId), parts.log);
}

/**
 * Creates the replies in a user's own conversation with the app, as its messages. They stay there, so a secret is replaced by a
 * message that says how to see it, and the reply returns false.
 */
export function replyDirectly({ actor, thread }: TypedMessage, { clients, log }: ReplyParts): Reply {
  const slack = clients.of(actor.workspaceId);
  const send = async (message: Message) => {
    const isSecret = holdsSecret(message);
    const shown = isSecret ? textMessage(NO_PASSWORD_HERE) : message;
    return wasSent(await slack.post(actor.channelId, shown, thread?.ts), actor.userId, log) && !isSecret;
  };
  return { ...NO_REPLY, send, replace: send };
}

const none = async () => false;
export const NO_REPLY: Reply = { send: none, replace: none, edit: none, announce: none };

const NO_PASSWORD_HERE =
  'Root passwords aren’t sent as messages. Run `/vps password` as a slash command to see it.';

/**
 * Creates the replies to a press on a card in a modal, which covers everything else: what would replace the button's message
 * replaces the card, and what would be a message of its own appears above it. Once the user has closed the modal, they get
 * messages.
 */
export function replyInCard(card: PressedView, otherwise: Reply, update: Views['update']): Reply {
  const title = card.title?.text ?? '';
  let shown: CardParts = readCard(card.blocks);
  const show = async (parts: CardParts) => {
    shown = parts;
    return (await update(card.id, cardView(title, card.private_metadata, parts))).ok;
  };
  const edit = (message: Message) => show({ ...shown, blocks: message.blocks });
  return {
    ...otherwise,
    send: async (message) => {
      const notices = [...(shown.notices ?? []), ...message.blocks];
      return (await show({ ...shown, notices })) || otherwise.send(message);
    },
    replace: async (message) => (await edit(message)) || otherwise.send(message),
    edit,
  };
}

/** Makes the buttons that are shown with an error: what the user can do about it. `typed` is the command that failed. */
export type NextSteps = (error: unknown, typed?: string) => KnownBlock[];

/** Sends an error's words, with what the user can do, to the user alone. Features don't catch errors, so all end here. */
export async function sendError(
  error: unknown,
  request: SlackRequest,
  steps: readonly KnownBlock[],
): Promise<void> {
  await request.reply.send(textMessage(request.explain(error), ...steps));
}

/** Shows an error in place of a form. What may be carried out all the same hasn't failed. */
export function errorView(error: unknown, words: string): ModalView {
  if (error instanceof DatabaseUnreachable) return noticeView('Database unavailable', words);
  if (isRefusal(error, 'doubt_over')) return noticeView('Already resolved', words);
  const isOpen = isRefusal(error, 'order_unsaved') || isRefusal(error, 'already_handled');
  return noticeView(isOpen ? 'Check the outcome' : 'That didn’t work', words);
}

/** Shows an error in a modal that was submitted, or in a message if the user has closed the modal. */
export async function showLateError(
  error: unknown,
  viewId: string,
  request: SlackRequest,
  steps: readonly KnownBlock[],
): Promise<void> {
  const words = request.explain(error);
  const { ok } = await request.views.update(viewId, errorView(error, words));
  if (!ok) await request.reply.send(textMessage(words, ...steps));
}

/** Makes the `onWait` of calls: sends the user one message that the hosting API's rate limit delays their request. */
export function sendWaiting(request: SlackRequest): OnWait {
  let isSent = false;
  return () => {
    if (isSent) return;
    isSent = true;
    // A send throws if the database with the response_url can't be reached. An unhandled rejection would end the process.
    request.reply.send(textMessage(WAITING_WORDS)).catch(() => undefined);
  };
}

export interface ExplainParts {
  readonly system: System;
  readonly log: Log;
  readonly currency: string;
}

/**
 * Puts an error into words, in escaped mrkdwn. A defect gets an incident ID, in the log and in the words; its own message is kept
 * out of both, since it may repeat what a user typed or what an answer contained. `hasBegun`: whether the request may have done
 * something before the error; absent if that is not known.
 */
export function explainError(
  error: unknown,
  { system, log, currency, hasBegun }: ExplainParts & { readonly hasBegun?: boolean },
): string {
  if (isExpected(error)) return wordsOfError(error, currency);
  if (error instanceof DatabaseUnreachable) {
    log.error('a request could not reach the database', { cause: error.reason });
    return wordsOfUnreachable(hasBegun);
  }
  const incident = system.newId().slice(-8);
  log.error('an unexpected error occurred during a request', { incident, ...describeDefect(error) });
  return `Something went wrong (incident \`${incident}\`). Your admin can find it in the log.`;
}

/** Turns mrkdwn into plain text, which errors beside fields are: no code marks, no entities. */
export function plainWords(words: string): string {
  return decodeText(words.replaceAll('`', ''));
}
