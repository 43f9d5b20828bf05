import type { Approval } from '../../domain/approval.ts';
import type { AppContext } from '../ports.ts';
import { startFollowing } from '../servers/start-following.ts';

/**
 * Follows the server of an approved delete until a complete list no longer has it, where the delete is proven. The channel
 * has been told by then: its message is known under the approval's ID. Sends nothing. Never throws.
 */
export async function followApproved(approval: Approval, app: AppContext): Promise<void> {
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
  await startFollowing(act, { serverId, label, standing: 'waiting', hasChanged: false }, app);
}
