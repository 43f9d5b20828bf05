import type { CurrencyOf } from '../account/workspaces.ts';
import { describeDefect, type HostingError, type Refusal } from '../core/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Log } from '../log.ts';
import type { Card } from '../requests/request.ts';
import { context, type Message, textMessage } from '../slack/kit/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import { wordsOfError } from '../words.ts';
import { digestMessage } from './digest-message.ts';
import type { Digest } from './reminder.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
}

export type PostedDigest =
  | { readonly kind: 'posted'; readonly card: Card }
  /** Nothing was posted; `reason` is Slack's error code. `retryAfterMs`: there were too many messages, and Slack says when to try again. */
  | { readonly kind: 'refused'; readonly reason: string; readonly retryAfterMs?: number }
  /** Slack did not answer, or not readably: it may have been posted. */
  | { readonly kind: 'unknown' };

export type ReminderNotifier = ReturnType<typeof createReminderNotifier>;

/** Posts digests and edits them. No method throws. */
export function createReminderNotifier({ outbox, log, currencyOf }: Parts) {
  const safely = <Result>(workspaceId: string, otherwise: Result, work: () => Promise<Result>) =>
    work().catch((error: unknown) => {
      log.warn('a digest could not be sent', { workspaceId, ...describeDefect(error) });
      return otherwise;
    });
  return {
    /** Not where other organizations could read it: `channel_is_shared`, or `channel_unreadable` if Slack does not say. */
    post: (workspaceId: WorkspaceId, channelId: ChannelId, digest: Digest) =>
      safely<PostedDigest>(workspaceId, { kind: 'unknown' }, async () =>
        outbox.postOnce(
          workspaceId,
          channelId,
          digestMessage(digest, { currency: await currencyOf(workspaceId) }),
        ),
      ),
    /** Tells the channel why there is no digest today. */
    postUnreadable: (workspaceId: WorkspaceId, channelId: ChannelId, error: HostingError | Refusal) =>
      safely<PostedDigest>(workspaceId, { kind: 'unknown' }, () =>
        outbox.postOnce(workspaceId, channelId, unreadableMessage(error)),
      ),
    /** `gone`: the message was deleted, or the app can no longer edit it. */
    update: (workspaceId: WorkspaceId, card: Card, digest: Digest, { isOver } = { isOver: false }) =>
      safely<'shown' | 'gone' | 'failed'>(workspaceId, 'failed', async () =>
        outbox.editOne(
          workspaceId,
          card,
          digestMessage(digest, { currency: await currencyOf(workspaceId), isOver }),
        ),
      ),
    /** Tells owners that the digest could not be posted, and why. */
    notifyUndelivered: (
      workspaceId: WorkspaceId,
      channelId: ChannelId,
      reason: string,
      owners: readonly UserId[],
    ) =>
      safely<void>(workspaceId, undefined, async () => {
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
