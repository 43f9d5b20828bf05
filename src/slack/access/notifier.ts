import type { AccessRequest } from '../../app/access/ports.ts';
import type { Notifier } from '../../app/ports.ts';
import { editCards, postCards } from '../transport/cards.ts';
import { replyByOrigin } from '../transport/reply.ts';
import type { Workbench } from '../transport/request.ts';
import { answerMessage, requestCard } from './access-request-card.ts';

/** Cards and messages about requests for a role; `createTeller` sees to it that none of it throws. */
export function createAccessNotifier(
  getBench: () => Workbench,
): Pick<Notifier, 'postAccessCards' | 'updateAccessCards' | 'notifyAccessRequester'> {
  return {
    postAccessCards: (request, owners) => postCards(owners, requestCard(request), getBench().slack),
    updateAccessCards: (request) => editCards(request.cards, requestCard(request), getBench().slack),
    notifyAccessRequester: (request) => notifyRequester(request, getBench()),
  };
}

async function notifyRequester(answered: AccessRequest, bench: Workbench): Promise<boolean> {
  const { id: formId, requesterId, channelId, state } = answered;
  const origin = { formId, ...(channelId === undefined ? {} : { channelId }) };
  const message = answerMessage(answered);
  // After a week nobody waits where they asked, and an ephemeral message reaches only who is there.
  const isAwaited = state !== 'expired';
  if (isAwaited && (await replyByOrigin(origin, requesterId, bench).send(message))) return true;
  return (await bench.slack.post(requesterId, message)).ok;
}
