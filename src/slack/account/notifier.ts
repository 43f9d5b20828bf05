import type { AccountNotifier, KeyChange } from '../../app/account/ports.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { context, type Message, textMessage } from '../kit/blocks.ts';
import { mention } from '../kit/text.ts';
import type { Outbox } from '../transport/outbox.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
}

/** Tells owners about changes of the hosting account. */
export function createAccountNotifier({ outbox, log }: Parts): AccountNotifier {
  return {
    notifyKeyChange: async (keyChange, { channelId, userIds }) => {
      const { workspaceId } = keyChange;
      const message = keyChangeMessage(keyChange);
      const post = (recipients: readonly string[]) => outbox.postCards(workspaceId, recipients, message);
      try {
        const posted = channelId === undefined ? [] : await post([channelId]);
        const reached = posted.length > 0 ? posted : await post(userIds);
        if (reached.length === 0) log.warn('no owner could be told about an API key', { workspaceId });
      } catch (error) {
        log.warn('no owner could be told about an API key', { workspaceId, ...describeDefect(error) });
      }
    },
  };
}

/** Says who set or removed the API key; never the key. */
export function keyChangeMessage({ actorId, change }: KeyChange): Message {
  const who = mention(actorId);
  if (change === 'removed')
    return textMessage(
      `${who} disconnected the hosting account.`,
      context('Your servers keep running. To use `/vps` again, an owner has to run `/vps connect`.'),
    );
  return textMessage(
    `${who} connected a new hosting API key.`,
    context(
      'From now on, all orders go to the account of this key. If you didn’t expect this, run `/vps disconnect` and check `/vps audit`.',
    ),
  );
}
