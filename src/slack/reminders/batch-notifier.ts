import type { CurrencyOf } from '../../app/account/currency.ts';
import type { BatchNotifier } from '../../app/reminders/end-batch.ts';
import type { Log } from '../../log.ts';
import { noticeView } from '../kit/form.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { batchAnnouncement, batchMessage, batchTitle } from './batch-words.ts';
import { RENEW_ALL_TITLE } from './renew-all-review.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** Tells users the outcome of renewals that they confirmed together. */
export function createBatchNotifier({ outbox, log, currencyOf, accountUrl }: Parts): BatchNotifier {
  return {
    notifyBatch: (batch, results) =>
      notifySafely(batch.id, log, false, async () => {
        const { id: confirmationId, workspaceId, actorId: userId, channelId } = batch;
        const confirmer = { confirmationId, workspaceId, userId, channelId };
        const message = batchMessage(results, { currency: await currencyOf(workspaceId), accountUrl });
        const isTold =
          (await outbox.replyTo(confirmer).send(message)) ||
          (await outbox.sendDirectly(workspaceId, userId, message));
        const view = () =>
          noticeView(RENEW_ALL_TITLE, batchTitle(results), 'We sent you the details in a message.');
        await outbox.updateFollowed(confirmer, view, { isFinal: true });
        const announcement = batchAnnouncement(userId, results);
        if (isTold && announcement) await outbox.announce(confirmer, announcement);
        return isTold;
      }),
  };
}
