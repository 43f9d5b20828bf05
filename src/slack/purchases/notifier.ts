import type { CurrencyOf } from '../../app/account/currency.ts';
import type { OperationNotifier } from '../../app/purchases/notifier-port.ts';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Log } from '../../log.ts';
import { textMessage } from '../kit/blocks.ts';
import { noticeView } from '../kit/form.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { lowBalanceMessage } from './order-news.ts';
import { announcement, deliveryMessages, outcomeMessage } from './outcome-message.ts';
import { outcomeWords, pointerWords, queuedWords, unsavedWords } from './outcome-words.ts';
import { sendAll } from './password-blocks.ts';
import type { Wording } from './reason-words.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** What the messages of one workspace are made and sent with. */
interface Sending extends Wording {
  readonly outbox: Outbox;
}

/** Notifies users of outcomes: ephemerally where the form was opened, else by a direct message without the password. */
export function createOperationNotifier(parts: Parts): OperationNotifier {
  const { log, outbox, accountUrl } = parts;
  const sendingFor = async ({ workspaceId }: Operation): Promise<Sending> => ({
    outbox,
    accountUrl,
    currency: await parts.currencyOf(workspaceId),
  });
  return {
    announceStart: (operation) => {
      const announcing = outbox.startAnnouncement(confirmerOf(operation), announcement(operation));
      void notifySafely(operation.id, log, undefined, () => announcing);
    },
    notify: (operation, held, reported) =>
      notifySafely(operation.id, log, { isNotified: false }, async () =>
        notify(operation, held, reported, await sendingFor(operation)),
      ),
    notifyQueued: (operation) => notifyBriefly(operation, queuedWords(operation), parts),
    notifyUnsaved: (operation) => notifyBriefly(operation, unsavedWords(operation), parts),
    notifyLowBalance: (operation, owners) =>
      notifySafely(operation.id, log, undefined, async () =>
        notifyLowBalance(operation, owners, await sendingFor(operation)),
      ),
  };
}

async function notify(
  operation: Operation,
  held: HeldPassword | undefined,
  reported: string | undefined,
  parts: Sending,
) {
  const { outbox } = parts;
  const confirmer = confirmerOf(operation);
  const messages = held
    ? deliveryMessages(operation, held, parts, reported)
    : [outcomeMessage(operation, parts, reported)];
  const isShown = await sendAll(messages, outbox.replyTo(confirmer));
  const isNotified = isShown || (await sendDirectly(operation, operation.actorId, parts));
  await outbox.updateFollowed(confirmer, () => outcomeView(operation, { isShown, isNotified }, parts), {
    isFinal: operation.state !== 'unconfirmed',
  });
  const { decidedBy } = operation;
  if (operation.isLate && isNotified && decidedBy !== undefined && decidedBy !== operation.actorId)
    await sendDirectly(operation, decidedBy, parts);
  if (isNotified && operation.state === 'settled') await outbox.announce(confirmer, announcement(operation));
  else if (isNotified) await outbox.updateAnnouncement(confirmer, announcement(operation));
  return { isNotified };
}

/** While the outcome is open; by a path that needs no store, if the stored one fails. */
function notifyBriefly(operation: Operation, words: string, { outbox, log }: Parts): Promise<void> {
  const confirmer = confirmerOf(operation);
  const message = textMessage(words);
  return notifySafely(operation.id, log, undefined, async () => {
    await outbox.updateFollowed(confirmer, () => noticeView(titleOf(operation), words), { isFinal: false });
    const isShown = await outbox
      .replyTo(confirmer)
      .send(message)
      .catch(() => false);
    if (!isShown) await outbox.sendDirectly(operation.workspaceId, operation.actorId, message);
  });
}

async function notifyLowBalance(operation: Operation, owners: readonly UserId[], parts: Sending) {
  const message = lowBalanceMessage(operation, parts);
  await Promise.all(owners.map((id) => parts.outbox.sendDirectly(operation.workspaceId, id, message)));
}

function titleOf({ purchase }: Operation): string {
  return purchase.kind === 'create' ? 'Create a server' : 'Renew a server';
}

function confirmerOf({ id, workspaceId, actorId, channelId }: Operation) {
  return { confirmationId: id, workspaceId, userId: actorId, channelId };
}

/** The last resort says everything but the password, which `/vps password` shows. */
function sendDirectly(operation: Operation, userId: string, parts: Sending): Promise<boolean> {
  const message = outcomeMessage(operation, parts);
  return parts.outbox.sendDirectly(operation.workspaceId, userId, message);
}

/** The details appear once: in the message if there is one, otherwise in the form. */
function outcomeView(
  operation: Operation,
  { isShown, isNotified }: { readonly isShown: boolean; readonly isNotified: boolean },
  wording: Wording,
) {
  if (isShown) return noticeView(titleOf(operation), pointerWords(operation));
  const password =
    operation.state === 'settled' && operation.hasPassword
      ? [`\`/vps password ${operation.serverId}\` shows the root password.`]
      : [];
  const words = isNotified
    ? 'We sent you the details in a direct message.'
    : outcomeWords(operation, wording);
  return noticeView(titleOf(operation), words, ...password);
}
