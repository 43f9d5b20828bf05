import type { Approval } from '../../domain/approval.ts';
import { startFollowing } from '../servers/start-following.ts';

type Ports = Parameters<typeof startFollowing>[2];

/**
 * Follows the server of an approved delete until a complete list no longer has it, where the delete is proven. The channel
 * has been told by then: its message is known under the approval's ID. Sends nothing. Never throws.
 */
export async function followApproved(approval: Approval, ports: Ports): Promise<void> {
  const { id, workspaceId, requesterId: actorId, channelId, keyGeneration, action } = approval;
  // A purchase is followed by its operation.
  if (action.kind !== 'delete' || approval.state !== 'ended' || approval.reason.code !== 'done') return;
  const { serverId, label } = action;
  const act = {
    id,
    workspaceId,
    action: 'delete',
    actorId,
    keyGeneration,
    channelId,
  } as const;
  await startFollowing(act, { serverId, label, standing: 'waiting', hasChanged: false }, ports);
}
