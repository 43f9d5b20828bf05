import type { AccessRequest } from '../../domain/access-request.ts';
import type { AppPorts } from '../ports.ts';
import { listAnswerers } from './list-answerers.ts';

/**
 * Tells how a request for a role stands: an open one to the owners, in cards; what became of it in their place, and to
 * the asker. What gets through to nobody stays owed: the sweep tries again, also after a restart.
 * The request as it stands then; undefined when there is none.
 */
export async function notifyAccessRequest(id: string, ports: AppPorts): Promise<AccessRequest | undefined> {
  // One after the other: two that find no cards would both post some.
  return ports.locks.run(`request ${id}`, async () => {
    const request = await ports.accessRequests.find(id);
    if (request && !request.isNotified) await tell(request, ports);
    return ports.accessRequests.find(id);
  });
}

async function tell(request: AccessRequest, ports: AppPorts): Promise<void> {
  const { accessNotifier } = ports;
  const { id, state } = request;
  if (state === 'open') {
    await askOwners(request, ports);
    return;
  }
  await accessNotifier.updateCards(request);
  // Whoever asked anew knows that.
  const isNotified = state === 'replaced' || (await accessNotifier.notifyRequester(request));
  if (isNotified) await ports.accessRequests.markNotified(id, state);
}

async function askOwners(request: AccessRequest, ports: AppPorts): Promise<void> {
  const { accessNotifier } = ports;
  const { accessRequests } = ports;
  const { id, cards: kept } = request;
  const isPosted = kept.length > 0;
  const cards = isPosted
    ? kept
    : await accessNotifier.postCards(request, { deciders: await listAnswerers(request, ports) });
  if (cards.length === 0) return;
  if (!isPosted) await accessRequests.storeCards(id, cards);
  await accessRequests.markNotified(id, 'open');
  // Decided while the cards were on their way: whoever did that found none to edit.
  const now = await accessRequests.find(id);
  if (now && now.state !== 'open') await accessNotifier.updateCards(now);
}
