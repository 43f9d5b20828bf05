import { isCommandLine } from '../../domain/actor.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { FollowUpContext } from '../authorize/use-case.ts';
import type { KeyChange } from './ports.ts';

/**
 * Notifies the owners that the workspace's API key was set or removed, even by one of them: from now on, all orders go to that
 * account. The message goes to the approvals channel, or directly to them. The command line can't reach Slack.
 */
export async function notifyKeyChange(
  change: KeyChange['change'],
  { actor, app }: FollowUpContext,
): Promise<void> {
  const { workspaceId, userId: actorId } = actor;
  if (isCommandLine(actorId)) return;
  const userIds = await listOwners(workspaceId, app);
  const channelId = (await app.workspaces.find(workspaceId))?.settings.channelId;
  await app.accountNotifier.notifyKeyChange({ workspaceId, actorId, change }, { channelId, userIds });
}
