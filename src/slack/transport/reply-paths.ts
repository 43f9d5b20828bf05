import type { Actor } from '../../domain/actor.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Log } from '../../log.ts';
import { type Message, textMessage } from '../kit/blocks.ts';
import type { Origin } from '../kit/origin.ts';
import { holdsSecret, withFallback } from './fallback.ts';
import {
  createStoredReply,
  findReplyUrl,
  replyByUrl,
  type StoredReplyParts,
  withDirectMessage,
} from './reply.ts';
import type { Reply } from './request.ts';
import type { TypedMessage } from './typed-message.ts';

/** What the ways back to users are made with. */
interface ReplyParts extends StoredReplyParts {
  readonly slackApiUrl: string;
  readonly log: Log;
}

/** The ways back to the user who sent a command or pressed a button, perhaps in a thread. */
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

/** The ways back to the user who submitted a form. */
export function replyFrom(origin: Origin | undefined, actor: Actor, parts: ReplyParts): Reply {
  if (!origin) return replyTo(undefined, actor, parts);
  const { workspaceId, userId } = actor;
  const { formId: confirmationId, channelId, thread } = origin;
  const confirmer = { confirmationId, workspaceId, userId, channelId, thread };
  const reply = createStoredReply(confirmer, parts);
  return withDirectMessage(reply, actor, parts.clients.of(workspaceId), parts.log);
}

/** The ways back to a user who mentioned the app: an ephemeral message, in the thread where they read one. */
export function replyToMention({ actor, thread }: TypedMessage, parts: ReplyParts): Reply {
  return replyTo(undefined, actor, parts, thread);
}

/**
 * The way back in a user's own conversation with the app, as messages of the app. They stay there, so that a secret is
 * not among them.
 */
export function replyDirectly({ actor, thread }: TypedMessage, { clients, log }: ReplyParts): Reply {
  const slack = clients.of(actor.workspaceId);
  const send = async (message: Message) => {
    const isSecret = holdsSecret(message);
    const shown = isSecret ? textMessage(NOT_SHOWN) : message;
    const sent = await withFallback(shown, (each) => slack.post(actor.channelId, each, thread?.ts));
    if (!sent.ok) log.warn('a user got no answer: Slack refused every way', { user: actor.userId });
    return sent.ok && !isSecret;
  };
  return { ...NO_REPLY, send, replace: send };
}

const none = async () => false;
/** For when there is no one to answer. */
export const NO_REPLY: Reply = { send: none, replace: none, edit: none, delete: none, announce: none };

const NOT_SHOWN = 'Root passwords aren’t sent as messages. Run `/vps password` as a slash command to see it.';
