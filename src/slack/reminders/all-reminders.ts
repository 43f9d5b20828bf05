import type { KnownBlock } from '@slack/types';
import { z } from 'zod';
import { listReminders } from '../../app/reminders/list-reminders.ts';
import type { Digest } from '../../domain/digest.ts';
import { actions, context, type Message, section } from '../kit/blocks.ts';
import type { ActionHandler } from '../kit/button.ts';
import { cardView } from '../kit/card-view.ts';
import { defineForm } from '../kit/form.ts';
import { count, describeNumber } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { allRemindersButton, reminderPages } from './buttons.ts';
import { dueBlocks } from './due-blocks.ts';

const TITLE = 'Coming renewals';
/** Each takes two blocks, and a view 100. */
const ON_A_PAGE = 15;

const form = defineForm({
  id: 'all_reminders',
  title: TITLE,
  input: z.object({}),
  needs: listReminders,
  load: async (_input, request, origin) => cardView(TITLE, origin, await readPage(0, request)),
});

/** Every server that the user's role covers, with the buttons that a digest has room for on its first ones only. */
export const allRemindersActions: readonly ActionHandler[] = [
  form.handler,
  allRemindersButton.on((_value, request) => form.open({}, request)),
  ...Object.values(reminderPages).map((button) =>
    button.on(({ page }, request) => showRemindersPage(page, request)),
  ),
];

/** Shows a page as it stands now, in the open modal. */
export async function showRemindersPage(page: number, request: SlackRequest): Promise<void> {
  await request.reply.replace(await readPage(page, request));
}

async function readPage(page: number, request: SlackRequest): Promise<Message> {
  return remindersPage(await request.execute(listReminders, {}), page, request.currency);
}

/** One page of them; the last one if there are fewer by now. */
export function remindersPage({ due }: Pick<Digest, 'due'>, asked: number, currency: string): Message {
  const last = Math.max(0, Math.ceil(due.length / ON_A_PAGE) - 1);
  const page = Math.min(asked, last);
  const from = page * ON_A_PAGE;
  const servers = due.slice(from, from + ON_A_PAGE);
  const words =
    due.length === 0
      ? 'No servers need to be renewed soon.'
      : `*${count(due.length, 'server')} to renew soon*`;
  return {
    text: TITLE,
    blocks: [
      section(words),
      ...servers.flatMap((server) => dueBlocks(server, currency, page)),
      ...(last > 0
        ? [
            context(
              `Showing ${from + 1}–${from + servers.length} of ${describeNumber(due.length)}, most urgent first.`,
            ),
            pageButtons(page, last),
          ]
        : []),
    ],
  };
}

function pageButtons(page: number, last: number): KnownBlock {
  return actions(
    ...(page > 0 ? [reminderPages.back.element('Back', { page: page - 1 })] : []),
    ...(page < last ? [reminderPages.further.element('Next', { page: page + 1 })] : []),
  );
}
