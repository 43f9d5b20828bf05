import type { InputBlock, KnownBlock } from '@slack/types';
import { z } from 'zod';
import { DEFAULT_DIGEST, type DigestSettings, describeDaysBefore, findDaysBefore } from '../core/settings.ts';
import { findZone } from '../core/time.ts';
import { actions, context, type Message, option, section, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { type ChannelOptions, channelId, type SelectOptions, type TextOptions } from '../slack/kit/fields.ts';
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

/** The digest's fields of the settings form. Without a channel, the others don't count. */
export const digestFields = {
  digestChannel: channelId.exactOptional(),
  digestHour: z
    .string()
    .regex(/^(1?\d|2[0-3])$/)
    .exactOptional(),
  digestZone: z
    .string()
    .refine(
      (text) => findZone(text) !== undefined,
      'Enter a time zone such as Europe/Berlin, America/New_York or UTC.',
    )
    .exactOptional(),
  digestDays: z
    .string()
    .refine(
      (text) => findDaysBefore(text) !== undefined,
      'Enter up to five numbers of days from 1 to 60, such as 7, 3, 1.',
    )
    .exactOptional(),
};

type Optional = { readonly optional: true };

interface Fields {
  textField(name: 'digestZone' | 'digestDays', options: TextOptions & Optional): InputBlock;
  selectField(name: 'digestHour', options: SelectOptions & Optional): InputBlock;
  channelField(name: 'digestChannel', options: ChannelOptions & Optional): InputBlock;
}

/** What is set, or a proposal: the owner's own time zone, as Slack has it, at nine. */
export function digestInputs(
  digest: DigestSettings | undefined,
  ownZone: string | undefined,
  fields: Fields,
): KnownBlock[] {
  const proposed = { ...DEFAULT_DIGEST, zone: ownZone ?? DEFAULT_DIGEST.zone };
  const { hour, zone, daysBefore } = digest ?? proposed;
  return [
    section('*Daily digest: servers to renew, what renewing them costs, and changes outside this workspace*'),
    fields.channelField('digestChannel', {
      label: 'Digest channel',
      placeholder: 'Choose a channel',
      hint: 'Leave empty for no digest. Invite the app first. Everyone in the channel can read the servers’ names.',
      optional: true,
      excludesShared: true,
      initial: digest?.channelId,
    }),
    fields.selectField('digestHour', {
      label: 'Hour',
      placeholder: 'Choose an hour',
      options: Array.from({ length: 24 }, (_, each) =>
        option(`${String(each).padStart(2, '0')}:00`, String(each)),
      ),
      hint: 'The digest is posted in the first 15 minutes of this hour.',
      initial: String(hour),
      optional: true,
    }),
    fields.textField('digestZone', {
      label: 'Time zone',
      hint: 'Such as Europe/Berlin. Adjusts for daylight saving time.',
      initial: zone,
      optional: true,
      maxLength: 60,
    }),
    fields.textField('digestDays', {
      label: 'Days before the paid time ends',
      hint: 'With 7, 3, 1: reminders start 7 days before the paid time ends, and can be snoozed until day 3 or day 1.',
      initial: describeDaysBefore(daysBefore),
      optional: true,
      maxLength: 30,
    }),
  ];
}

/** What was entered; undefined without a channel. What was left empty has its default. */
export function readDigestFields(
  entered: Partial<Record<keyof typeof digestFields, string>>,
): DigestSettings | undefined {
  const { digestChannel: channelId, digestHour, digestZone = '', digestDays = '' } = entered;
  if (channelId === undefined) return undefined;
  return {
    channelId,
    hour: digestHour === undefined ? DEFAULT_DIGEST.hour : Number(digestHour),
    zone: findZone(digestZone) ?? DEFAULT_DIGEST.zone,
    daysBefore: findDaysBefore(digestDays) ?? DEFAULT_DIGEST.daysBefore,
  };
}
