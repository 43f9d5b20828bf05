import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { listApprovers } from '../authorize/find-roles.ts';
import type { Services } from '../services.ts';

/**
 * Tells how an approval stands: an open one to those who could give it, in cards; what became of it in their place,
 * and to the requester. What gets through to nobody stays owed: the sweep tries again, also after a restart.
 */
export async function notifyApproval(id: string, services: Services): Promise<void> {
  const { approvals } = services.store;
  const approval = await approvals.find(id);
  if (!approval || approval.isNotified) return;
  if (approval.state === 'open') {
    await postCards(approval, services);
    return;
  }
  await services.notifier.updateApprovalCards(approval);
  if (await services.notifier.notifyRequester(approval)) await approvals.markNotified(id, approval.state);
}

async function postCards(approval: Approval, services: Services): Promise<void> {
  const { store, notifier } = services;
  const approvers = await listApprovers({ ...approval, label: labelOfAction(approval.action) }, services);
  const cards = await notifier.postApprovalCards(approval, approvers);
  await store.approvals.storeCards(approval.id, cards);
  const isNotified = cards.length > 0 || (await notifier.notifyRequester(approval));
  if (isNotified) await store.approvals.markNotified(approval.id, approval.state);
  // Decided while the cards were on their way: whoever did that found none to edit.
  const now = await store.approvals.find(approval.id);
  if (now && now.state !== 'open') await notifier.updateApprovalCards(now);
}
