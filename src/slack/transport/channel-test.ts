import type { Channels } from '../../app/access/ports.ts';
import type { ChannelTest } from '../../app/account/ports.ts';
import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { SlackClients } from './slack-clients.ts';

/** Posts a message that says why it is there; not where other organizations could read it. */
export function createChannelTest(clients: SlackClients, channels: Channels): ChannelTest {
  return {
    post: async (workspaceId, channelId, requestedBy) => {
      const isShared = await channels.isShared(workspaceId, channelId);
      if (isShared) return { isPosted: false, reason: 'channel_is_shared' };
      if (isShared === undefined) {
        const isHidden = (await channels.look(workspaceId, channelId)) === 'unknown';
        return { isPosted: false, reason: isHidden ? 'channel_not_found' : 'channel_unreadable' };
      }
      const words = `${mention(requestedBy)} chose this channel to receive \`/vps\` approval requests.`;
      const posted = await clients.of(workspaceId).post(channelId, textMessage(words));
      return posted.ok ? { isPosted: true } : { isPosted: false, reason: posted.error };
    },
  };
}
