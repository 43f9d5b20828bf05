import type { OutcomeThreads, ReplyUrls } from '../../app/authorize/ports.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../../domain/ids.ts';
import { Secret } from '../../domain/secret.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import { type Message, textMessage } from '../kit/blocks.ts';
import { holdsSecret, withFallback } from './fallback.ts';
import type { Reply } from './request.ts';
import type { SlackApi } from './slack-api.ts';
import type { SlackClients } from './slack-clients.ts';

/** Who is answered, and where they acted. */
export interface Addressee {
  readonly userId: UserId;
  readonly channelId?: ChannelId | undefined;
  /** Outcomes are sent there. If it is open, the user is reading there. */
  readonly thread?: Thread | undefined;
}

type How = Readonly<Record<string, unknown>>;
const EPHEMERALLY: How = { response_type: 'ephemeral', replace_original: false };
const IN_CHANNEL: How = { response_type: 'in_channel', replace_original: false };
const IN_PLACE: How = { replace_original: true };

/** Answers a command or a press: through its `response_url`, which works in DMs and where the bot is no member. */
export function replyByUrl(url: Secret<string> | undefined, to: Addressee, slack: SlackApi): Reply {
  return { ...createReply(async () => url, to, slack), url };
}

/** Who confirmed something, and where. */
export interface Confirmer {
  readonly confirmationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly channelId?: ChannelId | undefined;
  /** Where it is known from the form itself; otherwise it is looked up. */
  readonly thread?: Thread | undefined;
}

/** What an answer for a modal is found and sent with. */
export interface StoredReplyParts {
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly outcomeThreads: Pick<OutcomeThreads, 'find'>;
  readonly system: System;
}

/** Answers for a modal, which has no `response_url`: through the one that was stored when its form was opened. */
export function createStoredReply(
  { confirmationId, workspaceId, channelId, userId, thread }: Confirmer,
  { clients, replyUrls, outcomeThreads, system }: StoredReplyParts,
): Reply {
  const findUrl = () => replyUrls.use(confirmationId, system.now());
  const slack = clients.of(workspaceId);
  const find = async () => {
    const place = thread ?? (await outcomeThreads.find(confirmationId));
    return createReply(findUrl, { userId, channelId, thread: place }, slack);
  };
  const send = async (message: Message) => (await find()).send(message);
  return {
    send,
    replace: send,
    edit: async (message) => (await find()).edit(message),
    delete: async () => false,
    announce: async (message) => (await find()).announce(message),
  };
}

/**
 * Through a `response_url` if there is one that works; otherwise as an ephemeral message, or in the channel. In a thread
 * that the user reads, an ephemeral message comes first: one by a `response_url` would stand in the channel, unseen. A
 * secret never depends on that, since Slack doesn't say whether it was shown.
 */
function createReply(
  findUrl: () => Promise<Secret<string> | undefined>,
  to: Addressee,
  slack: SlackApi,
): Reply {
  const byUrl = async (message: Message, how: How): Promise<boolean> => {
    const url = await findUrl();
    if (url === undefined) return false;
    const respond = ({ text, blocks }: Message) => slack.respond(url, { ...how, text, blocks });
    const answer = await withFallback(message, respond);
    return answer.ok && (answer.saysOk || !holdsSecret(message));
  };
  const ephemerally = (message: Message) => postEphemeral(message, to, slack);
  const send = async (message: Message) => {
    const isForThread = to.thread?.isOpen === true && !holdsSecret(message);
    if (isForThread && (await ephemerally(message))) return true;
    return (await byUrl(message, EPHEMERALLY)) || (!isForThread && (await ephemerally(message)));
  };
  return {
    send,
    replace: async (message) => (await byUrl(message, IN_PLACE)) || ephemerally(message),
    edit: (message) => byUrl(message, IN_PLACE),
    delete: async () => {
      const url = await findUrl();
      return url !== undefined && (await slack.respond(url, { delete_original: true })).ok;
    },
    announce: async (message) =>
      (await byUrl(message, { ...IN_CHANNEL, thread_ts: to.thread?.ts })) ||
      postToChannel(message, to, slack),
  };
}

/** Fails in DMs and where the bot is no member. */
async function postEphemeral(
  message: Message,
  { userId, channelId, thread }: Addressee,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  const threadTs = thread?.isOpen ? thread.ts : undefined;
  return (await withFallback(message, (shown) => slack.postEphemeral(channelId, userId, shown, threadTs))).ok;
}

/** To everyone in a channel. Where the bot is no member this does nothing, which is no error. */
async function postToChannel(
  message: Message,
  { channelId, thread }: Addressee,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  return (await withFallback(message, (shown) => slack.post(channelId, shown, thread?.ts))).ok;
}

const NOT_SHOWN =
  'Slack didn’t confirm that it showed you the root password. If you don’t see all of it, run `/vps password` again.';

/**
 * The same answers, with a direct message as the last resort (docs/design.md 2). A secret is never sent directly: the user
 * is told that it could not be shown. When every way fails, that is logged.
 */
export function withDirectMessage(reply: Reply, { userId }: Addressee, slack: SlackApi, log: Log): Reply {
  const sendDirectly = async (message: Message) =>
    (await withFallback(message, (shown) => slack.post(userId, shown))).ok;
  const answer = async (message: Message, first: (message: Message) => Promise<boolean>) => {
    if (await first(message)) return true;
    const isSecret = holdsSecret(message);
    const isTold = await sendDirectly(isSecret ? textMessage(NOT_SHOWN) : message);
    if (!isTold) log.warn('a user got no answer: Slack refused every way', { user: userId });
    return isTold && !isSecret;
  };
  return {
    ...reply,
    send: (message) => answer(message, reply.send),
    replace: (message) => answer(message, reply.replace),
  };
}

/** A `response_url` is only ever followed to where Slack lives; undefined for anything else. */
export function findReplyUrl(given: unknown, apiUrl: string): Secret<string> | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  const isSlack = url.protocol === 'https:' && /(^|\.)slack(-gov)?\.com$/.test(url.hostname);
  return isSlack || isSameMachine(url, new URL(apiUrl)) ? new Secret(given) : undefined;
}

/** An emulator of Slack (`SLACK_API_URL`) gives out addresses of its own machine. */
function isSameMachine(url: URL, api: URL): boolean {
  const loopback = (name: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
  return url.hostname === api.hostname || (loopback(url.hostname) && loopback(api.hostname));
}
