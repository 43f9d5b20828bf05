import type { CurrencyOf } from '../account/workspaces.ts';
import { describeDefect, type HostingError, type Refusal } from '../core/errors.ts';
import type { ChannelId } from '../core/ids.ts';
import type { Log } from '../log.ts';
import { context, type Message, textMessage } from '../slack/kit/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import { wordsOfError } from '../words.ts';
import { digestMessage } from './digest-message.ts';
import type { ReminderNotifier } from './ports.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
}

/** Posts digests and keeps them up to date. */
export function createReminderNotifier({ outbox, log, currencyOf }: Parts): ReminderNotifier {
  const safely = <Result>(workspaceId: string, otherwise: Result, work: () => Promise<Result>) =>
    work().catch((error: unknown) => {
      log.warn('a digest could not be sent', { workspaceId, ...describeDefect(error) });
      return otherwise;
    });
  return {
    post: (workspaceId, channelId, digest) =>
      safely(workspaceId, { kind: 'unknown' as const }, async () =>
        outbox.postOnce(
          workspaceId,
          channelId,
          digestMessage(digest, { currency: await currencyOf(workspaceId) }),
        ),
      ),
    postUnreadable: (workspaceId, channelId, error) =>
      safely(workspaceId, { kind: 'unknown' as const }, () =>
        outbox.postOnce(workspaceId, channelId, unreadableMessage(error)),
      ),
    update: (workspaceId, card, digest, { isOver } = { isOver: false }) =>
      safely(workspaceId, 'failed' as const, async () =>
        outbox.editOne(
          workspaceId,
          card,
          digestMessage(digest, { currency: await currencyOf(workspaceId), isOver }),
        ),
      ),
    notifyUndelivered: (workspaceId, channelId, reason, owners) =>
      safely(workspaceId, undefined, async () => {
        const message = undeliveredMessage(channelId, reason);
        await Promise.all(owners.map((userId) => outbox.sendDirectly(workspaceId, userId, message)));
      }),
  };
}

/** What the channel reads instead of a digest. */
export function unreadableMessage(error: HostingError | Refusal): Message {
  return textMessage(
    `There’s no digest today, because the servers couldn’t be read. ${wordsOfError(error, '')}`,
    context('Check the hosting account for servers that need to be renewed.'),
  );
}

const UNDELIVERED: Readonly<Record<string, string>> = {
  not_in_channel: 'The app isn’t a member of the channel. Invite it there with `/invite`.',
  channel_not_found: 'The app can’t see the channel. Invite it there with `/invite`.',
  is_archived: 'The channel is archived.',
  channel_is_shared: 'The channel is shared with another organization.',
  channel_unreadable:
    'The app can’t tell whether other organizations are in the channel (missing scopes `channels:read` and `groups:read`).',
};

/** What owners read when the channel can't have a digest. */
export function undeliveredMessage(channelId: ChannelId, reason: string): Message {
  return textMessage(
    `The daily digest couldn’t be posted in <#${channelId}>. ${UNDELIVERED[reason] ?? 'Slack refused the message.'}`,
    context('To choose another channel, run `/vps settings`. `/vps reminders` shows the servers to renew.'),
  );
}
