import { z } from 'zod';
import type { Channels } from '../../app/access/ports.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import type { System } from '../../system.ts';
import type { SlackClients } from '../transport/slack-clients.ts';

/** A user waits for the answer to a form, which Slack wants within 3 s. */
const WAIT_MS = 2000;

const slackChannel = z.object({ is_archived: z.boolean().default(false) });

/** Asks Slack about channels (`conversations.info`) each time: this is rare, and the answer has to be current. */
export function createChannels(clients: SlackClients, system: System): Channels {
  return {
    look: async (workspaceId, channelId) => {
      const answer = await withTimeout(clients.of(workspaceId).findChannel(channelId), system, WAIT_MS);
      if (!answer?.ok) return answer?.error === 'channel_not_found' ? 'unknown' : undefined;
      const channel = slackChannel.safeParse(answer.channel).data;
      return channel && (channel.is_archived ? 'archived' : 'there');
    },
  };
}
