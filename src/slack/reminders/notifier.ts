import type { CurrencyOf } from '../../app/account/currency.ts';
import type { ReminderNotifier } from '../../app/reminders/ports.ts';
import { describeDefect, type HostingError, type Refusal } from '../../domain/errors.ts';
import type { ChannelId } from '../../domain/ids.ts';
import type { Log } from '../../log.ts';
import { context, type Message, textMessage } from '../kit/blocks.ts';
import type { Outbox } from '../transport/outbox.ts';
import { wordsOfError, wordsOfRefusal } from '../words.ts';
import { digestMessage } from './digest-message.ts';

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

/** What owners read when the channel can't have a digest. */
export function undeliveredMessage(channelId: ChannelId, reason: string): Message {
  return textMessage(
    `The daily digest couldn’t be posted in <#${channelId}>. ${wordsOfRefusal('channel_unwritable', { reason }, '')}`,
    context('`/vps settings` changes the channel, and `/vps reminders` shows the servers to renew.'),
  );
}
