import { listReminders } from '../../app/reminders/list-reminders.ts';
import {
  letExpire,
  type MarkedReminder,
  remindAgain,
  snoozeReminder,
} from '../../app/reminders/mark-reminder.ts';
import { SNOOZES } from '../../domain/reminder.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { codeLabel } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { allRemindersActions, showRemindersPage } from './all-reminders.ts';
import {
  letExpireButton,
  type PressedMonth,
  remindButton,
  remindersButton,
  snoozeButtons,
} from './buttons.ts';
import { digestMessage } from './digest-message.ts';
import { dayWords } from './due-words.ts';
import { renewAllActions, renewAllModal } from './renew-all.ts';

async function showReminders(request: SlackRequest): Promise<void> {
  const digest = await request.execute(listReminders, { onWait: sendWaiting(request) });
  await request.reply.send(digestMessage(digest, { currency: request.currency, isOwn: true }));
}

export const reminders = defineCommand({
  name: 'reminders',
  usage: 'reminders',
  summary: 'Show servers to renew soon, and change their reminders',
  needs: 'viewer',
  parse: ({ words }) => (words.length > 0 ? '`/vps reminders` takes no arguments.' : {}),
  run: (_input, request) => showReminders(request),
  actions: [
    remindersButton.on((_value, request) => showReminders(request)),
    ...SNOOZES.map((snooze) =>
      snoozeButtons[snooze].on(async (month, request) => {
        const snoozed = await request.execute(snoozeReminder, { ...month, snooze });
        await tellMarked(month, snoozedWords(snoozed), request);
      }),
    ),
    letExpireButton.on(async (month, request) => {
      const { server } = await request.execute(letExpire, month);
      const words = `No more reminders for ${codeLabel(server.label)}: it’s left to expire. Press *Remind again* to undo this.`;
      await tellMarked(month, words, request);
    }),
    remindButton.on(async (month, request) => {
      const { label } = await request.execute(remindAgain, month);
      await tellMarked(month, `Reminders for ${codeLabel(label)} are on again.`, request);
    }),
    ...renewAllActions,
    ...allRemindersActions,
  ],
  modals: [renewAllModal],
});

/** In the modal that shows all servers, the page shows it, too. */
async function tellMarked({ page }: PressedMonth, words: string, request: SlackRequest): Promise<void> {
  if (page !== undefined) await showRemindersPage(page, request);
  await request.reply.send(textMessage(words));
}

function snoozedWords({ server, mark: { untilDay = '' } }: MarkedReminder): string {
  return `Reminders for ${codeLabel(server.label)} are snoozed until ${dayWords(untilDay)}.`;
}
