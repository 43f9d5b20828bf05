import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import { postToChannel } from './reply.ts';
import type { SlackRequest } from './request.ts';

/**
 * Tells the channel what this person did ("@ann rebooted `web-1`"), unless an owner has turned that off.
 * Words are mrkdwn, escaped by the caller. True when the channel was told.
 */
export async function announce(deed: string, request: SlackRequest): Promise<boolean> {
  const { services, slack } = request.bench;
  const { workspaceId, channelId, userId } = request.caller.actor;
  const workspace = await services.store.workspaces.find(workspaceId);
  if (!workspace?.settings.announces || channelId === undefined || channelId.startsWith('D')) return false;
  const message = textMessage(`${mention(userId)} ${deed}`);
  return (await request.reply.announce(message)) || postToChannel(message, channelId, slack);
}
