import type { AccessRequest } from '../../app/access/ports.ts';
import type { Teller } from '../../app/ports.ts';
import { editCards, postCards } from '../transport/cards.ts';
import { replyByOrigin } from '../transport/reply.ts';
import type { Workbench } from '../transport/request.ts';
import { answerMessage, requestCard } from './access-request-card.ts';

/** Cards and messages about requests for a role; `createTeller` sees to it that none of it throws. */
export function createRequestTeller(
  getBench: () => Workbench,
): Pick<Teller, 'askOwners' | 'showRequest' | 'tellAsker'> {
  return {
    askOwners: (request, owners) => postCards(owners, requestCard(request), getBench().slack),
    showRequest: (request) => editCards(request.cards, requestCard(request), getBench().slack),
    tellAsker: (request) => tellAsker(request, getBench()),
  };
}

async function tellAsker(answered: AccessRequest, bench: Workbench): Promise<boolean> {
  const { id: formId, askerId, channelId, state } = answered;
  const origin = { formId, ...(channelId === undefined ? {} : { channelId }) };
  const message = answerMessage(answered);
  // After a week nobody waits where they asked, and an ephemeral message reaches only who is there.
  const isAwaited = state !== 'expired';
  if (isAwaited && (await replyByOrigin(origin, askerId, bench).tell(message))) return true;
  return (await bench.slack.post(askerId, message)).ok;
}
