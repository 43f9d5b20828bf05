import type { ChannelId, UserId } from '../core/ids.ts';
import type { Log } from '../log.ts';
import type { Message } from '../slack/kit/blocks.ts';
import { notifySafely } from '../slack/kit/notify.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { Confirmer } from '../slack/reply.ts';
import type { Decision, DecisionNotifier } from './decision.ts';

export interface NotifierParts {
  readonly outbox: Outbox;
  readonly log: Log;
}

/** What differs between the messages of different kinds of decisions. */
interface DecisionMessages<Kind extends Decision> {
  /** What a decider sees: the request with its buttons, later replaced by the outcome. */
  card(decision: Kind): Message | Promise<Message>;
  /** True when Slack took the message. */
  notifyRequester(decision: Kind, requester: Confirmer): Promise<boolean>;
}

/** Posts and updates the cards of one kind of decision, and tells its requesters. */
export function createCardNotifier<Kind extends Decision>(
  { outbox, log }: NotifierParts,
  { card, notifyRequester }: DecisionMessages<Kind>,
): DecisionNotifier<Kind> {
  return {
    postCards: (decision, { channelId, userIds }) =>
      notifySafely(decision.id, log, [], async () => {
        const message = await card(decision);
        const post = (recipients: readonly (UserId | ChannelId)[]) =>
          outbox.postCards(decision.workspaceId, recipients, message);
        const posted = channelId === undefined ? [] : await post([channelId]);
        return posted.length > 0 ? posted : post(userIds);
      }),
    updateCards: (decision) =>
      notifySafely(decision.id, log, false, async () =>
        outbox.editCards(decision.workspaceId, decision.cards, await card(decision)),
      ),
    notifyRequester: (decision) =>
      notifySafely(decision.id, log, false, () => notifyRequester(decision, requesterOf(decision))),
  };
}

function requesterOf({
  id: confirmationId,
  workspaceId,
  requesterId: userId,
  channelId,
}: Decision): Confirmer {
  return { confirmationId, workspaceId, userId, channelId };
}
