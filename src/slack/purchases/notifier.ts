import type { HeldPassword, OperationNotifier } from '../../app/purchases/ports.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Log } from '../../log.ts';
import { noticeView } from '../kit/form.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { announcement, outcomeMessage, outcomeWords } from './outcome-message.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currency: string;
}

/** Notifies users of outcomes: ephemerally where the form was opened, else by a direct message without the password. */
export function createOperationNotifier(parts: Parts): OperationNotifier {
  return {
    notify: (operation, held) =>
      notifySafely(operation.id, parts.log, { isNotified: false }, () => notify(operation, held, parts)),
  };
}

async function notify(operation: Operation, held: HeldPassword | undefined, parts: Parts) {
  const { outbox, currency } = parts;
  const confirmer = confirmerOf(operation);
  const isShown = await outbox.replyTo(confirmer).send(outcomeMessage(operation, held, currency));
  await outbox.updateFollowed(confirmer, () => progressView(operation, isShown, currency), {
    isFinal: operation.state !== 'unconfirmed',
  });
  const isNotified = isShown || (await sendDirectly(operation, parts));
  if (isNotified && operation.state === 'settled') await outbox.announce(confirmer, announcement(operation));
  return { isNotified };
}

function confirmerOf({ id, workspaceId, actorId, channelId }: Operation) {
  return { confirmationId: id, workspaceId, userId: actorId, channelId };
}

/** The last resort says everything but the password, which `/vps password` shows. */
function sendDirectly(operation: Operation, { outbox, currency }: Parts): Promise<boolean> {
  const message = outcomeMessage(operation, undefined, currency);
  return outbox.sendDirectly(operation.workspaceId, operation.actorId, message);
}

function progressView(operation: Operation, isShown: boolean, currency: string) {
  const words = [outcomeWords(operation, currency)];
  if (operation.state === 'settled' && operation.hasPassword) {
    words.push(
      isShown
        ? 'Its root password is in the channel, in a message that only you can see. You can close this window.'
        : 'Its root password waits for you: `/vps password` shows it.',
    );
  }
  const title = operation.purchase.kind === 'create' ? 'Create a server' : 'Renew a server';
  return noticeView(title, ...words);
}
