import type { KnownBlock } from '@slack/types';
import type { Caller } from '../../app/authorize/use-case.ts';
import { textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { Announcement } from './request.ts';
import type { RequestParts, Ways } from './request-parts.ts';

type Parts = Pick<RequestParts, 'mayAnnounce' | 'clients' | 'channels'>;

/**
 * Tells the channel, or the thread that the user acts in, what they did: as a message of the bot's, which can be edited;
 * where the bot is no member, through the reply path, where it can't.
 */
export async function announce(
  { action, more }: { readonly action: string; readonly more: readonly KnownBlock[] },
  { mayAnnounce, clients, channels }: Parts,
  { actor }: Caller,
  ways: Ways,
): Promise<Announcement | undefined> {
  const { workspaceId, channelId, userId } = actor;
  if (channelId === undefined) return undefined;
  if (!(await mayAnnounce(workspaceId, channelId))) {
    const isHidden = ways.thread && !channelId.startsWith('D');
    if (isHidden && (await channels.look(workspaceId, channelId)) === 'unknown') await askForInvite(ways);
    return undefined;
  }
  const message = textMessage(`${mention(userId)} ${action}`, ...more);
  const slack = clients.of(workspaceId);
  const posted = await slack.post(channelId, message, ways.thread?.ts);
  if (posted.ok) return { message: { channelId: posted.channelId, ts: posted.ts } };
  const isTold = await ways.reply.announce(message);
  if (posted.error === 'not_in_channel') await askForInvite(ways);
  return isTold ? {} : undefined;
}

/** A thread is followed by those who deal with an alert: without the app in the channel, they don't hear how it ends. */
async function askForInvite({ reply, thread }: Ways): Promise<void> {
  if (thread) await reply.send(textMessage(INVITE));
}

const INVITE =
  'This app isn’t in this channel, so it can’t tell the thread how this ends. Invite it with `/invite @vps`.';
