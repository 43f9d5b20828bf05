import { type Approval, labelOfDeed } from '../../domain/approval.ts';
import { listApprovers } from '../authorize/find-roles.ts';
import type { Services } from '../services.ts';

/**
 * Tells how an approval stands: an open one to those who could give it, in cards; what became of it in their place,
 * and to the requester. What gets through to nobody stays owed: the sweep tries again, also after a restart.
 */
export async function tellApproval(id: string, services: Services): Promise<void> {
  const { approvals } = services.store;
  const approval = await approvals.find(id);
  if (!approval || approval.isTold) return;
  if (approval.state === 'open') {
    await askAround(approval, services);
    return;
  }
  await services.teller.showApproval(approval);
  if (await services.teller.tellApproval(approval)) await approvals.markTold(id, approval.state);
}

async function askAround(approval: Approval, services: Services): Promise<void> {
  const { store, teller } = services;
  const approvers = await listApprovers({ ...approval, label: labelOfDeed(approval.deed) }, services);
  const cards = await teller.askApprovers(approval, approvers);
  await store.approvals.keepCards(approval.id, cards);
  const isTold = cards.length > 0 || (await teller.tellApproval(approval));
  if (isTold) await store.approvals.markTold(approval.id, approval.state);
  // Decided while the cards were on their way: whoever did that found none to edit.
  const now = await store.approvals.find(approval.id);
  if (now && now.state !== 'open') await teller.showApproval(now);
}
