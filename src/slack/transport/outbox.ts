import type { ModalView } from '@slack/types';
import type { Channels } from '../../app/access/ports.ts';
import type { ActMessages } from '../../app/servers/ports.ts';
import type { Card } from '../../domain/decision.ts';
import type { ChannelId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { Message } from '../kit/blocks.ts';
import type { AcknowledgedViews } from './acknowledged-views.ts';
import { createAnnouncements, type MayAnnounce } from './announcements.ts';
import { editCards, postCards } from './cards.ts';
import { withFallback } from './fallback.ts';
import type { FollowedViews } from './followed-views.ts';
import type { TouchHome } from './home-touch.ts';
import { createPacedEdits, type PacedEdit } from './paced-edits.ts';
import { type Confirmer, createStoredReply, type StoredReplyParts } from './reply.ts';
import type { Reply } from './request.ts';
import { createSinglePosts, type SinglePosts } from './single-posts.ts';
import type { EndStep } from './step-ends.ts';

/** What is sent later, when no request is at hand: outcomes, cards, and the progress shown in open modals. */
export interface Outbox extends SinglePosts {
  /** Ephemerally to the user who confirmed it, by the reply path that was stored with their form. */
  replyTo(confirmer: Confirmer): Reply;
  /** As a direct message; true when Slack took it. */
  sendDirectly(workspaceId: WorkspaceId, userId: UserId, message: Message): Promise<boolean>;
  /** Channels that are shared with other organizations, or may be, are left out. */
  postCards(
    workspaceId: WorkspaceId,
    recipients: readonly (UserId | ChannelId)[],
    message: Message,
  ): Promise<readonly Card[]>;
  editCards(workspaceId: WorkspaceId, cards: readonly Card[], message: Message): Promise<boolean>;
  /** Shows a view in the modal that follows this confirmation; `isFinal` ends the following. */
  updateFollowed(
    confirmer: Confirmer,
    view: () => ModalView,
    options: { readonly isFinal: boolean },
  ): Promise<void>;
  /** Edits a message in a channel, without getting in the way of what users press. */
  readonly editPaced: PacedEdit;
  /** Announces in a channel what no user did; undefined where nothing is announced. */
  announceIn(workspaceId: WorkspaceId, channelId: ChannelId, message: Message): Promise<Card | undefined>;
  /** Tells Slack how a step in a workflow ended. */
  readonly endStep: EndStep;
  /** Announces in the channel that it has begun, if the workspace announces changes. */
  startAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Edits that announcement, if there is one. */
  updateAnnouncement(confirmer: Confirmer, message: Message): Promise<void>;
  /** Announces its outcome in the channel where it was confirmed: in place of the announcement that it has begun. */
  announce(confirmer: Confirmer, message: Message): Promise<boolean>;
}

export interface OutboxParts extends StoredReplyParts {
  readonly channels: Pick<Channels, 'isShared'>;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly actMessages: Pick<ActMessages, 'find' | 'put'>;
  readonly touchHome: TouchHome;
  readonly endStep: EndStep;
}

/** Builds the outbox of all workspaces. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clients, mayAnnounce, touchHome } = parts;
  const replyTo = (confirmer: Confirmer) => {
    touchHome(confirmer.workspaceId, confirmer.userId);
    return createStoredReply(confirmer, parts);
  };
  const announcements = createAnnouncements({ ...parts, clients, mayAnnounce, replyTo });
  const singlePosts = createSinglePosts(parts);
  return {
    replyTo,
    sendDirectly: async (workspaceId, userId, message) => {
      touchHome(workspaceId, userId);
      const slack = clients.of(workspaceId);
      return (await withFallback(message, (shown) => slack.post(userId, shown))).ok;
    },
    postCards: async (workspaceId, recipients, message) => {
      for (const id of recipients) if (!isChannel(id)) touchHome(workspaceId, id);
      const allowed = await Promise.all(recipients.map((id) => mayReceive(workspaceId, id, parts.channels)));
      const chosen = recipients.filter((_, at) => allowed[at]);
      return postCards(chosen, message, clients.of(workspaceId));
    },
    editCards: (workspaceId, cards, message) => editCards(cards, message, clients.of(workspaceId)),
    ...singlePosts,
    updateFollowed: createFollowedUpdates(parts),
    editPaced: createPacedEdits(parts),
    announceIn: async (workspaceId, channelId, message) => {
      if (!(await mayAnnounce(workspaceId, channelId))) return undefined;
      const posted = await singlePosts.postOnce(workspaceId, channelId, message);
      return posted.kind === 'posted' ? posted.card : undefined;
    },
    endStep: parts.endStep,
    startAnnouncement: announcements.start,
    updateAnnouncement: announcements.update,
    announce: announcements.finish,
  };
}

function createFollowedUpdates({
  followedViews,
  acknowledgedViews,
  clients,
}: OutboxParts): Outbox['updateFollowed'] {
  return async ({ confirmationId, workspaceId }, view, { isFinal }) => {
    const viewId = followedViews.take(confirmationId);
    if (viewId === undefined) return;
    if (!isFinal) followedViews.set(confirmationId, viewId);
    const shown = view();
    // Nothing waits for it: the user may have closed it, and gets a message all the same.
    void acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, shown));
  };
}

/** Cards name servers, prices and users: no channel gets them in which another organization might read along. */
async function mayReceive(
  workspaceId: WorkspaceId,
  recipient: UserId | ChannelId,
  channels: OutboxParts['channels'],
): Promise<boolean> {
  return !isChannel(recipient) || (await channels.isShared(workspaceId, recipient)) === false;
}

function isChannel(recipient: UserId | ChannelId): recipient is ChannelId {
  return /^[CG]/.test(recipient);
}
