import type { Actor } from '../../domain/actor.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Log } from '../../log.ts';
import type { Origin } from '../kit/origin.ts';
import {
  createStoredReply,
  findReplyUrl,
  replyByUrl,
  type StoredReplyParts,
  withDirectMessage,
} from './reply.ts';
import type { Reply } from './request.ts';

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
