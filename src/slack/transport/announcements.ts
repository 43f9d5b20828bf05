import { LRUCache } from 'lru-cache';
import type { OutcomeThreads } from '../../app/authorize/ports.ts';
import type { ActMessages } from '../../app/servers/ports.ts';
import type { Card } from '../../domain/decision.ts';
import type { ChannelId, ConfirmationId, WorkspaceId } from '../../domain/ids.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';
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
  readonly outcomeThreads: Pick<OutcomeThreads, 'find'>;
  readonly actMessages: Pick<ActMessages, 'find' | 'put'>;
  readonly system: Pick<System, 'now'>;
  readonly replyTo: (confirmer: Confirmer) => Reply;
}

const MOST_CARDS = 1000;
/** Longer than an order can wait for its approval and then for its outcome. */
const MESSAGE_MS = 60 * DAY_MS;

/** Remembers where it has announced what, also after a restart. */
export function createAnnouncements(parts: Parts): Announcements {
  const { clients, mayAnnounce, outcomeThreads, actMessages, system, replyTo } = parts;
  // One that is being posted is waited for.
  const posting = new LRUCache<ConfirmationId, Promise<Card | undefined>>({ max: MOST_CARDS });
  const post = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    if (channelId === undefined || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    const threadTs = (await outcomeThreads.find(confirmationId))?.ts;
    const posted = await withFallback(message, (shown) => slack.post(channelId, shown, threadTs));
    if (!posted.ok) return undefined;
    const card = { channelId: posted.channelId, ts: posted.ts };
    await actMessages.put(confirmationId, workspaceId, card, system.now() + MESSAGE_MS);
    return card;
  };
  const edit = async ({ confirmationId, workspaceId, channelId }: Confirmer, message: Message) => {
    const card = (await posting.get(confirmationId)) ?? (await actMessages.find(confirmationId));
    // Another organization may have been invited to the channel since.
    if (!card || !(await mayAnnounce(workspaceId, channelId))) return undefined;
    const slack = clients.of(workspaceId);
    return (await withFallback(message, (shown) => slack.updateMessage(card, shown))).ok;
  };
  return {
    start: async (confirmer, message) => {
      const posted = post(confirmer, message).catch(() => undefined);
      posting.set(confirmer.confirmationId, posted);
      await posted;
    },
    update: async (confirmer, message) => {
      await edit(confirmer, message);
    },
    finish: async (confirmer, message) => {
      const isEdited = await edit(confirmer, message);
      posting.delete(confirmer.confirmationId);
      if (isEdited !== undefined) return isEdited;
      if (!(await mayAnnounce(confirmer.workspaceId, confirmer.channelId))) return false;
      return (await post(confirmer, message)) !== undefined || replyTo(confirmer).announce(message);
    },
  };
}
