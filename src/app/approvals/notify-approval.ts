import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { listApprovers } from '../authorize/list-role-holders.ts';
import type { AppPorts } from '../ports.ts';

/**
 * Tells how an approval stands: an open one to those who could give it, in cards; what became of it in their place,
 * and to the requester. What gets through to nobody stays owed: the sweep tries again, also after a restart.
 */
export async function notifyApproval(id: string, ports: AppPorts): Promise<void> {
  const { approvals } = ports;
  const approval = await approvals.find(id);
  if (!approval || approval.isNotified) return;
  if (approval.state === 'open') {
    await postCards(approval, ports);
    return;
  }
  await ports.approvalNotifier.updateCards(approval);
  if (await ports.approvalNotifier.notifyRequester(approval))
    await approvals.markNotified(id, approval.state);
}

async function postCards(approval: Approval, ports: AppPorts): Promise<void> {
  const { approvalNotifier } = ports;
  const approvers = await listApprovers({ ...approval, label: labelOfAction(approval.action) }, ports);
  const workspace = await ports.workspaces.find(approval.workspaceId);
  const channelId = workspace?.settings.channelId;
  const cards = await approvalNotifier.postCards(approval, { channelId, deciders: approvers });
  await ports.approvals.storeCards(approval.id, cards);
  const isNotified = cards.length > 0 || (await approvalNotifier.notifyRequester(approval));
  if (isNotified) await ports.approvals.markNotified(approval.id, approval.state);
  // Decided while the cards were on their way: whoever did that found none to edit.
  const now = await ports.approvals.find(approval.id);
  if (now && now.state !== 'open') await approvalNotifier.updateCards(now);
}
