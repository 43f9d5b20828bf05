import { z } from 'zod';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { defineForm } from '../slack/kit/form.ts';
import { cardView } from '../slack/kit/home-view.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { definePages, pageOf } from '../slack/kit/pages.ts';
import { codeLabel, count, describeNumber } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  allRemindersButton,
  letExpireButton,
  type PressedMonth,
  remindButton,
  remindersButton,
  snoozeButtons,
} from './buttons.ts';
import { dayWords, digestMessage, dueBlocks } from './digest-message.ts';
import { letExpire, listReminders, remindAgain, snoozeReminder } from './marks.ts';
import { type Digest, SNOOZES } from './reminder.ts';
import { renewAllActions, renewAllModal } from './renew-all.ts';

const reminderPages = definePages('reminders');

const TITLE = 'Upcoming renewals';
/** Each takes two blocks, and a view 100. */
const ON_A_PAGE = 15;

/** The window with every server that the user's role covers. A digest has room for the buttons of its first few only. */
const form = defineForm({
  id: 'all_reminders',
  title: TITLE,
  input: z.object({}),
  needs: listReminders,
  load: async (_input, request, origin) => cardView(TITLE, origin, await readPage(0, request)),
});

async function showRemindersPage(page: number, request: SlackRequest): Promise<void> {
  await request.reply.replace(await readPage(page, request));
}

async function readPage(page: number, request: SlackRequest): Promise<Message> {
  return remindersPage(await request.execute(listReminders, {}), page, request.currency);
}

/** One page of them; the last one if there are fewer by now. */
export function remindersPage(
  { due }: { readonly due: Digest['due'] },
  asked: number,
  currency: string,
): Message {
  const { page, pages, from, shown } = pageOf(due, asked, ON_A_PAGE);
  const words =
    due.length === 0
      ? 'No servers need to be renewed soon.'
      : `*${count(due.length, 'server')} to renew soon*`;
  return {
    text: TITLE,
    blocks: [
      section(words),
      ...shown.flatMap((server) => dueBlocks(server, currency, page)),
      ...(pages > 1
        ? [
            context(
              `Showing ${from + 1}–${from + shown.length} of ${describeNumber(due.length)}, most urgent first.`,
            ),
            actions(...reminderPages.buttons({ page, pages })),
          ]
        : []),
    ],
  };
}

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
        const { server, mark } = await request.execute(snoozeReminder, { ...month, snooze });
        const words = `Reminders for ${codeLabel(server.label)} are snoozed until ${dayWords(mark.untilDay ?? '')}.`;
        await tellMarked(month, words, request);
      }),
    ),
    letExpireButton.on(async (month, request) => {
      const { server } = await request.execute(letExpire, month);
      const words = `No more reminders for ${codeLabel(server.label)} until its paid time ends. Press *Remind again* to undo this.`;
      await tellMarked(month, words, request);
    }),
    remindButton.on(async (month, request) => {
      const { label } = await request.execute(remindAgain, month);
      await tellMarked(month, `Reminders for ${codeLabel(label)} are on again.`, request);
    }),
    ...renewAllActions,
    form.handler,
    allRemindersButton.on((_value, request) => form.open({}, request)),
    ...reminderPages.on(({ page }, request) => showRemindersPage(page, request)),
  ],
  modals: [renewAllModal],
});

/** In the modal that shows all servers, the page shows it, too. */
async function tellMarked({ page }: PressedMonth, words: string, request: SlackRequest): Promise<void> {
  if (page !== undefined) await showRemindersPage(page, request);
  await request.reply.send(textMessage(words));
}
