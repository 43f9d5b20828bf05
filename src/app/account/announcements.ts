import type { ChannelId, WorkspaceId } from '../../domain/ids.ts';
import type { Workspaces } from './ports.ts';

/** Whether changes are announced in this channel: owners can turn it off, and a direct message is no channel. */
export async function mayAnnounce(
  workspaceId: WorkspaceId,
  channelId: ChannelId | undefined,
  workspaces: Pick<Workspaces, 'find'>,
): Promise<boolean> {
  if (channelId === undefined || channelId.startsWith('D')) return false;
  return (await workspaces.find(workspaceId))?.settings.announces ?? false;
}
