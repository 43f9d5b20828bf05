import type { Channels } from '../../app/access/ports.ts';
import type { Card } from '../../domain/decision.ts';
import type { ChannelId, WorkspaceId } from '../../domain/ids.ts';
import type { Message } from '../kit/blocks.ts';
import { withFallback } from './fallback.ts';
import { MESSAGE_GONE } from './message-gone.ts';
import type { SlackClients } from './slack-clients.ts';

/** A message that must not be posted twice, and is edited later. Other organizations never read it. */
export interface SinglePosts {
  /** Posts to a channel, and says what Slack has proven of it. */
  postOnce(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<PostedOnce>;
  editOne(workspaceId: WorkspaceId, card: Card, message: Message): Promise<Edited>;
}

export type PostedOnce =
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
export type Edited = 'shown' | 'gone' | 'failed';

/** Slack's codes for failures of its own, after which a message may have been posted (Slack, chat.postMessage). */
const UNSURE = ['internal_error', 'fatal_error', 'request_timeout', 'service_unavailable', 'unknown'];

interface Parts {
  readonly clients: SlackClients;
  readonly channels: Pick<Channels, 'isShared'>;
}

/** Makes both for all workspaces. Where Slack does not say who reads a channel, nothing is posted there. */
export function createSinglePosts({ clients, channels }: Parts): SinglePosts {
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

/** Whether such an error proves that nothing was posted. Codes of Slack are in lower case; the names of failures of the connection are not. */
export function isProven(error: string): boolean {
  return /^[a-z_]+$/.test(error) && !UNSURE.includes(error);
}
