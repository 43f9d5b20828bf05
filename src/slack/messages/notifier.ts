import type { MessageNotifier } from '../../app/messages/ports.ts';
import type { Log } from '../../log.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { interruptedMessage } from './interrupted-message.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
}

/** Tells users about their commands in messages. */
export function createMessageNotifier({ outbox, log }: Parts): MessageNotifier {
  return {
    tellInterrupted: (command) =>
      notifySafely(command.id, log, 'told', async () => {
        const answered = await outbox.answerOnce(command, interruptedMessage(command));
        return answered === 'refused' ? 'later' : 'told';
      }),
  };
}
