import { LRUCache } from 'lru-cache';
import type { Card } from '../../domain/decision.ts';
import type { ChannelId, ConfirmationId, WorkspaceId } from '../../domain/ids.ts';
import type { Message } from '../kit/blocks.ts';
import { withFallback } from './fallback.ts';
import type { Confirmer } from './reply.ts';
import type { Reply } from './request.ts';
import type { SlackClients } from './slack-clients.ts';

/** Whether changes are announced in this channel. */
export type MayAnnounce = (workspaceId: WorkspaceId, channelId: ChannelId | undefined) => Promise<boolean>;

/** One message in the channel for each confirmation, edited as it proceeds. */
export interface Announcements {
  /** Posts it, where the app may post in the channel. */
  start(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits it, if there is one. */
  update(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits it for the last time; posts it if there is none. True when Slack took it. */
  finish(confirmer: Confirmer, message: Message): Promise<boolean>;
}

interface Parts {
  readonly clients: SlackClients;
  readonly mayAnnounce: MayAnnounce;
  readonly replyTo: (confirmer: Confirmer) => Reply;
}

const MOST_CARDS = 1000;

/** Remembers the announcements that were posted last. After a restart, the outcome is announced in a new message. */
export function createAnnouncements({ clients, mayAnnounce, replyTo }: Parts): Announcements {
  const cards = new LRUCache<ConfirmationId, Promise<Card | undefined>>({ max: MOST_CARDS });
  const post = async ({ workspaceId, channelId }: Confirmer, message: Message) => {
    if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    const posted = await withFallback(message, (shown) => slack.post(channelId, shown));
    return posted.ok ? { channelId: posted.channelId, ts: posted.ts } : undefined;
  };
  const edit = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    const card = await cards.get(confirmationId);
    // Another organization may have been invited to the channel since.
    if (!card || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    return (await withFallback(message, (shown) => slack.updateMessage(card, shown))).ok;
  };
  return {
    start: async (confirmer, message) => {
      const posting = post(confirmer, message).catch(() => undefined);
      cards.set(confirmer.confirmationId, posting);
      await posting;
    },
    update: async (confirmer, message) => {
      await edit(confirmer, message);
    },
    finish: async (confirmer, message) => {
      const isEdited = await edit(confirmer, message);
      cards.delete(confirmer.confirmationId);
      if (isEdited !== undefined) return isEdited;
      if (!(await mayAnnounce(confirmer.workspaceId, confirmer.channelId))) return false;
      return replyTo(confirmer).announce(message);
    },
  };
}
