import type { ChannelId, WorkspaceId } from '../../domain/ids.ts';
import type { Channels } from '../access/ports.ts';
import type { Workspaces } from './ports.ts';

/**
 * Whether changes are announced in this channel: owners can turn it off, a direct message is no channel, and other
 * organizations never read labels and names of ours. Where Slack does not say who reads along, nothing is announced.
 */
export async function mayAnnounce(
  workspaceId: WorkspaceId,
  channelId: ChannelId | undefined,
  workspaces: Pick<Workspaces, 'find'>,
  channels: Pick<Channels, 'isShared'>,
): Promise<boolean> {
  if (channelId === undefined || channelId.startsWith('D')) return false;
  const announces = (await workspaces.find(workspaceId))?.settings.announces ?? false;
  return announces && (await channels.isShared(workspaceId, channelId)) === false;
}
