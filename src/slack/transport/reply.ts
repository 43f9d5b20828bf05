import { Secret } from '../../domain/secret.ts';
import type { Message } from '../kit/blocks.ts';
import { withFallback } from './fallback.ts';
import type { Confirmer, OutboxParts } from './outbox.ts';
import type { Reply } from './request.ts';
import type { SlackApi } from './slack-api.ts';

/** Answers through the `response_url` of a command or a press: works in DMs and where the bot is no member. */
export function replyByUrl(url: Secret<string>, slack: SlackApi): Reply {
  const post = (message: Message, how: Record<string, unknown>) => postTwice(message, how, url, slack);
  return {
    url,
    send: (message) => post(message, { response_type: 'ephemeral', replace_original: false }),
    replace: (message) => post(message, { replace_original: true }),
    delete: async () => (await slack.respond(url, { delete_original: true })).ok,
    announce: (message) => post(message, { response_type: 'in_channel', replace_original: false }),
  };
}

/** Answers for a modal, which has no `response_url`: through the one that was stored when its form was opened. */
export function createStoredReply(
  { confirmationId, workspaceId, channelId, userId }: Confirmer,
  { clients, replyUrls, system }: Pick<OutboxParts, 'clients' | 'replyUrls' | 'system'>,
): Reply {
  const slack = clients.of(workspaceId);
  const viaStored = async (use: (reply: Reply) => Promise<boolean>): Promise<boolean> => {
    const url = await replyUrls.use(confirmationId, system.now());
    return url !== undefined && use(replyByUrl(url, slack));
  };
  const send = async (message: Message): Promise<boolean> =>
    (await viaStored((reply) => reply.send(message))) || postEphemeral(message, channelId, userId, slack);
  return {
    send,
    replace: send,
    delete: async () => false,
    announce: async (message) =>
      (await viaStored((reply) => reply.announce(message))) || postToChannel(message, channelId, slack),
  };
}

/** For requests that came without a way back; Slack shows them as done. */
export const noReply: Reply = {
  send: async () => false,
  replace: async () => false,
  delete: async () => false,
  announce: async () => false,
};

/** An ephemeral message without a reply path: fails in DMs and where the bot is no member. */
export async function postEphemeral(
  message: Message,
  channelId: string | undefined,
  userId: string,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  return (await withFallback(message, (shown) => slack.postEphemeral(channelId, userId, shown))).ok;
}

/** To everybody in a channel; where the bot is no member nobody is told, and that is no error. */
export async function postToChannel(
  message: Message,
  channelId: string | undefined,
  slack: SlackApi,
): Promise<boolean> {
  if (channelId === undefined) return false;
  return (await withFallback(message, (shown) => slack.post(channelId, shown))).ok;
}

async function postTwice(
  message: Message,
  how: Record<string, unknown>,
  url: Secret<string>,
  slack: SlackApi,
): Promise<boolean> {
  return (await withFallback(message, ({ text, blocks }) => slack.respond(url, { ...how, text, blocks }))).ok;
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
