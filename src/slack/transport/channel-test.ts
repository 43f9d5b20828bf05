import type { ChannelTest } from '../../app/account/ports.ts';
import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { SlackClients } from './slack-clients.ts';

/** Posts a message that says why it is there. */
export function createChannelTest(clients: SlackClients): ChannelTest {
  return {
    post: async (workspaceId, channelId, requestedBy) => {
      const words = `${mention(requestedBy)} wants requests to approve, and reminders, of \`/vps\` to come here; this message only tries whether they would.`;
      const posted = await clients.of(workspaceId).post(channelId, textMessage(words));
      return posted.ok ? { isPosted: true } : { isPosted: false, reason: posted.error };
    },
  };
}
