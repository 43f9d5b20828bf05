import type { ReplyUrls } from '../../app/authorize/ports.ts';
import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { Secret } from '../../domain/secret.ts';
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
}

type How = Readonly<Record<string, unknown>>;
const EPHEMERALLY: How = { response_type: 'ephemeral', replace_original: false };
const IN_CHANNEL: How = { response_type: 'in_channel', replace_original: false };
const IN_PLACE: How = { replace_original: true };

/** Answers a command or a press: through its `response_url`, which works in DMs and where the bot is no member. */
export function replyByUrl(url: Secret<string> | undefined, to: Addressee, slack: SlackApi): Reply {
  return { ...createReply(async () => url, to, slack), ...omitUndefined({ url }) };
}

/** Who confirmed something, and where. */
export interface Confirmer {
  readonly confirmationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly channelId?: ChannelId | undefined;
}

/** What an answer for a modal is found and sent with. */
export interface StoredReplyParts {
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly system: System;
}

/** Answers for a modal, which has no `response_url`: through the one that was stored when its form was opened. */
export function createStoredReply(
  { confirmationId, workspaceId, channelId, userId }: Confirmer,
  { clients, replyUrls, system }: StoredReplyParts,
): Reply {
  const findUrl = () => replyUrls.use(confirmationId, system.now());
  const reply = createReply(findUrl, { userId, channelId }, clients.of(workspaceId));
  return { ...reply, replace: reply.send, delete: async () => false };
}

/** Through a `response_url` if there is one that works; otherwise as an ephemeral message, or in the channel. */
function createReply(
  findUrl: () => Promise<Secret<string> | undefined>,
  to: Addressee,
  slack: SlackApi,
): Reply {
  const byUrl = async (message: Message, how: How): Promise<boolean> => {
    const url = await findUrl();
    if (url === undefined) return false;
    const respond = ({ text, blocks }: Message) => slack.respond(url, { ...how, text, blocks });
    return (await withFallback(message, respond)).ok;
  };
  const otherwise = (message: Message) => postEphemeral(message, to, slack);
  return {
    send: async (message) => (await byUrl(message, EPHEMERALLY)) || otherwise(message),
    replace: async (message) => (await byUrl(message, IN_PLACE)) || otherwise(message),
    edit: (message) => byUrl(message, IN_PLACE),
    delete: async () => {
      const url = await findUrl();
      return url !== undefined && (await slack.respond(url, { delete_original: true })).ok;
    },
    announce: async (message) =>
      (await byUrl(message, IN_CHANNEL)) || postToChannel(message, to.channelId, slack),
  };
}

/** Fails in DMs and where the bot is no member. */
async function postEphemeral(
  message: Message,
  { userId, channelId }: Addressee,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  return (await withFallback(message, (shown) => slack.postEphemeral(channelId, userId, shown))).ok;
}

/** To everyone in a channel. Where the bot is no member this does nothing, which is no error. */
async function postToChannel(
  message: Message,
  channelId: ChannelId | undefined,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  return (await withFallback(message, (shown) => slack.post(channelId, shown))).ok;
}

const NOT_SHOWN =
  'Slack didn’t let this app show you a private message here. Run the command again to see it.';

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
