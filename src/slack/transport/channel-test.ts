import type { Channels } from '../../app/access/ports.ts';
import type { ChannelPurpose, ChannelTest } from '../../app/account/ports.ts';
import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { SlackClients } from './slack-clients.ts';

const RECEIVED: Readonly<Record<ChannelPurpose, string>> = {
  approvals: '`/vps` approval requests',
  digest: 'the daily digest of `/vps`',
};

/** Posts a message that says why it is there; not where other organizations could read it. */
export function createChannelTest(clients: SlackClients, channels: Channels): ChannelTest {
  return {
    post: async (workspaceId, channelId, requestedBy, purpose) => {
      const isShared = await channels.isShared(workspaceId, channelId);
      if (isShared) return { isPosted: false, reason: 'channel_is_shared' };
      if (isShared === undefined) {
        const isHidden = (await channels.look(workspaceId, channelId)) === 'unknown';
        return { isPosted: false, reason: isHidden ? 'channel_not_found' : 'channel_unreadable' };
      }
      const words = `${mention(requestedBy)} chose this channel to receive ${RECEIVED[purpose]}.`;
      const posted = await clients.of(workspaceId).post(channelId, textMessage(words));
      return posted.ok ? { isPosted: true } : { isPosted: false, reason: posted.error };
    },
  };
}
