import type { Services } from '../services.ts';
import type { AccessRequest } from './ports.ts';
import { listAnswerers } from './request-access.ts';

/**
 * Tells how a request for a role stands: an open one to the owners, in cards; what became of it in their place, and to
 * the asker. What gets through to nobody stays owed: the sweep tries again, also after a restart.
 * The request as it stands then; undefined when there is none.
 */
export async function notifyAccessRequest(
  id: string,
  services: Services,
): Promise<AccessRequest | undefined> {
  // One after the other: two that find no cards would both post some.
  return services.mutex.run(`request ${id}`, async () => {
    const request = await services.store.accessRequests.find(id);
    if (request && !request.isNotified) await tell(request, services);
    return services.store.accessRequests.find(id);
  });
}

async function tell(request: AccessRequest, services: Services): Promise<void> {
  const { store, notifier } = services;
  const { id, state } = request;
  if (state === 'open') {
    await askOwners(request, services);
    return;
  }
  await notifier.updateAccessCards(request);
  // Whoever asked anew knows that.
  const isNotified = state === 'replaced' || (await notifier.notifyAccessRequester(request));
  if (isNotified) await store.accessRequests.markNotified(id, state);
}

async function askOwners(request: AccessRequest, services: Services): Promise<void> {
  const { notifier, store } = services;
  const { accessRequests } = store;
  const { id, cards: kept } = request;
  const isPosted = kept.length > 0;
  const cards = isPosted
    ? kept
    : await notifier.postAccessCards(request, await listAnswerers(request, services));
  if (cards.length === 0) return;
  if (!isPosted) await accessRequests.storeCards(id, cards);
  await accessRequests.markNotified(id, 'open');
  // Decided while the cards were on their way: whoever did that found none to edit.
  const now = await accessRequests.find(id);
  if (now && now.state !== 'open') await notifier.updateAccessCards(now);
}
