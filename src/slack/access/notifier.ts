import type { DecisionNotifier } from '../../app/decisions/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { Log } from '../../log.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { answerMessage, requestCard } from './access-request-card.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
}

/** Cards and messages about requests for a role. They go to owners directly: a reason may be private. */
export function createAccessNotifier({ outbox, log }: Parts): DecisionNotifier<AccessRequest> {
  return {
    postCards: (request, { deciders }) =>
      notifySafely(request.id, log, [], () =>
        outbox.postCards(request.workspaceId, deciders, requestCard(request)),
      ),
    updateCards: (request) =>
      notifySafely(request.id, log, undefined, () =>
        outbox.editCards(request.workspaceId, request.cards, requestCard(request)),
      ),
    notifyRequester: (request) =>
      notifySafely(request.id, log, false, () => notifyRequester(request, outbox)),
  };
}

async function notifyRequester(request: AccessRequest, outbox: Outbox): Promise<boolean> {
  const { id: confirmationId, workspaceId, requesterId: userId, channelId, state } = request;
  const message = answerMessage(request);
  // After a week nobody waits where they asked, and an ephemeral message reaches only those who are there.
  const isAwaited = state !== 'expired';
  const reply = outbox.replyTo({ confirmationId, workspaceId, userId, channelId });
  if (isAwaited && (await reply.send(message))) return true;
  return outbox.sendDirectly(workspaceId, userId, message);
}
