import type { DecisionNotifier } from '../../app/decisions/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { createCardNotifier, type NotifierParts } from '../decisions/card-notifier.ts';
import { answerMessage, requestCard } from './access-request-card.ts';

/** Cards and messages about access requests. */
export function createAccessNotifier(parts: NotifierParts): DecisionNotifier<AccessRequest> {
  const { outbox } = parts;
  return createCardNotifier<AccessRequest>(parts, {
    card: requestCard,
    notifyRequester: async (request, requester) => {
      const message = answerMessage(request);
      // After a week the requester is elsewhere: an ephemeral message reaches only users who look at the channel.
      const isAwaited = request.state !== 'expired';
      if (isAwaited && (await outbox.replyTo(requester).send(message))) return true;
      return outbox.sendDirectly(request.workspaceId, request.requesterId, message);
    },
  });
}
