import { z } from 'zod';
import type { Channels } from '../../app/access/ports.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import type { System } from '../../system.ts';
import type { SlackApi } from '../transport/slack-api.ts';
import type { SlackClients } from '../transport/slack-clients.ts';
import { cacheLookups, RateLimited } from './cached-lookups.ts';

/** A user waits for the answer to a form, which Slack wants within 3 s. */
const WAIT_MS = 2000;

const slackChannel = z.object({ is_archived: z.boolean().default(false) });
/** Without these fields, the readers aren't known. */
const sharing = z.object({ is_ext_shared: z.boolean(), is_pending_ext_shared: z.boolean().default(false) });

/** A channel that is shared hears nothing more after this time. */
const SHARING_KNOWN_FOR_MS = 60_000;

/**
 * Asks Slack about channels (`conversations.info`): each time for a role, which is rare and has to be current; once a
 * minute whether a channel is shared with other organizations, which is asked before each announcement.
 */
export function createChannels(clients: SlackClients, system: System): Channels {
  const findSharing = cacheLookups(
    async (key) => {
      const [workspaceId = '', channelId = ''] = key.split(' ');
      const answer = await clients.of(workspaceId).findChannel(channelId);
      if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
      const found = answer.ok ? sharing.safeParse(answer.channel).data : undefined;
      return found && { isShared: found.is_ext_shared || found.is_pending_ext_shared };
    },
    system,
    { cachedMs: SHARING_KNOWN_FOR_MS },
  );
  return {
    hasMember: (workspaceId, channelId, userId) =>
      withTimeout(findMember(clients.of(workspaceId), channelId, userId), system),
    isShared: async (workspaceId, channelId) => (await findSharing(`${workspaceId} ${channelId}`))?.isShared,
    look: async (workspaceId, channelId) => {
      const answer = await withTimeout(clients.of(workspaceId).findChannel(channelId), system, WAIT_MS);
      if (!answer?.ok) return answer?.error === 'channel_not_found' ? 'unknown' : undefined;
      const channel = slackChannel.safeParse(answer.channel).data;
      return channel && (channel.is_archived ? 'archived' : 'there');
    },
  };
}

/** A channel of the whole company takes more pages than a user waits for: then nothing is known. */
const MOST_PAGES = 5;

async function findMember(slack: SlackApi, channelId: string, userId: string): Promise<boolean | undefined> {
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await slack.listMembers(channelId, cursor);
    if (!answer.ok) return undefined;
    if (answer.members.includes(userId)) return true;
    cursor = answer.cursor;
    if (cursor === '') return false;
  }
  return undefined;
}
