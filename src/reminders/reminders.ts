import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { Role } from '../core/roles.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { localDay } from '../core/time.ts';
import { getServer } from '../servers/find.ts';
import type { ReminderMark } from '../servers/notes.ts';
import { type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { codeLabel } from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { editDigestSoon } from './digest.ts';
import { addStandings, describeDue, findSnoozeEnd, listDue, readReminderSettings } from './digest-content.ts';
import {
  dayWords,
  letExpireButton,
  type PressedMonth,
  type Reminders,
  remindButton,
  reminderPages,
  remindersButton,
  remindersMessage,
  snoozeButton,
  unpostedNote,
} from './digest-message.ts';
import { renewAllActions, renewAllModal } from './renew-all.ts';

/** Shows the servers that the actor may see and whose paid time has ended or ends soon, those without reminders too. */
const listReminders = defineUseCase({
  name: 'reminders',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: (() => void) | undefined }, context): Promise<Reminders> => {
    const { actor, app } = context;
    const { workspaceId } = actor;
    const hosting = await context.hosting();
    const { servers } = await hosting.fetchServers({ onWait });
    const settings = await readReminderSettings(context);
    const day = localDay(app.system.now(), settings.zone);
    const covered = listDue(servers, day, settings, [])
      .map(({ server }) => server)
      .filter(({ label }) => context.covers(label));
    const described = await describeDue(covered, day, settings, hosting.account, workspaceId, app);
    const due = await addStandings(described, workspaceId, day, app);
    return { due, isPosted: settings.channelId !== undefined };
  },
});

/** Defines a change of the reminders for one month of a server. @throws Refusal `already_renewed`, `unknown_server`, `role_needed` */
function defineMarking<Output extends { readonly server: Server }>(
  name: string,
  needs: Role,
  run: (server: Server, input: PressedMonth, context: UseCaseContext) => Promise<Output>,
) {
  return defineUseCase({
    name,
    needs,
    effect: 'changes',
    subject: ({ id }: PressedMonth) => ({ serverId: id }),
    run: async (input: PressedMonth, context) => {
      const { channelId } = await readReminderSettings(context);
      const changed = await run(await getRemindedServer(input, context), input, context);
      return { ...changed, isPosted: channelId !== undefined };
    },
    follow: (_output, { actor, app }) => editDigestSoon(actor.workspaceId, app),
  });
}

/** @throws Refusal also `snooze_too_late` */
const snoozeReminder = defineMarking(
  'reminder_snooze',
  'operator',
  async (server, { paidUntil }, context) => {
    const settings = await readReminderSettings(context);
    const today = localDay(context.app.system.now(), settings.zone);
    const untilDay = findSnoozeEnd(paidUntil, today, settings);
    if (untilDay === undefined) throw new Refusal('snooze_too_late', { label: server.label });
    return putMark(server, paidUntil, untilDay, context);
  },
);

/** Nothing happens to the server itself. */
const letExpire = defineMarking('reminder_end', 'manager', (server, { paidUntil }, context) =>
  putMark(server, paidUntil, undefined, context),
);

const remindAgain = defineMarking('reminder_again', 'operator', async (server, { id }, { actor, app }) => {
  await app.serverNotes.remove('reminder', actor.workspaceId, id);
  return { server };
});

/** A button on an old message may be about a month that was renewed since. */
async function getRemindedServer({ id, paidUntil }: PressedMonth, context: UseCaseContext): Promise<Server> {
  const server = await getServer({ id }, context);
  if (isDeleted(server)) throw new Refusal('unknown_server', { typed: server.label });
  if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
  if (server.paidUntil !== paidUntil)
    throw new Refusal('already_renewed', { label: server.label, paidUntil: server.paidUntil });
  return server;
}

async function putMark(
  server: Server,
  paidUntil: number,
  untilDay: string | undefined,
  { actor, app }: UseCaseContext,
): Promise<{ readonly server: Server; readonly mark: ReminderMark }> {
  const mark = { serverId: server.id, paidUntil, by: actor.userId, untilDay };
  await app.serverNotes.put('reminder', actor.workspaceId, mark);
  return { server, mark };
}

async function readPage(
  page: number,
  request: SlackRequest,
  onWait?: (() => void) | undefined,
): Promise<Message> {
  return remindersMessage(await request.execute(listReminders, { onWait }), page, request.currency);
}

async function showReminders(request: SlackRequest): Promise<void> {
  await request.reply.send(await readPage(0, request, sendWaiting(request)));
}

async function showPage(page: number, request: SlackRequest): Promise<void> {
  await request.reply.replace(await readPage(page, request));
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
    snoozeButton.on(async (month, request) => {
      const { server, mark, isPosted } = await request.execute(snoozeReminder, month);
      const words = `Reminders for ${codeLabel(server.label)} are snoozed until ${dayWords(mark.untilDay ?? '')}.`;
      await replyMarked(month, words, isPosted, request);
    }),
    letExpireButton.on(async (month, request) => {
      const { server, isPosted } = await request.execute(letExpire, month);
      const until = month.paidUntil > request.now() ? ' until its paid time ends' : '';
      const words = `No more reminders for ${codeLabel(server.label)}${until}. Press *Remind again* to undo this.`;
      await replyMarked(month, words, isPosted, request);
    }),
    remindButton.on(async (month, request) => {
      const { server, isPosted } = await request.execute(remindAgain, month);
      const label = codeLabel(server.label);
      // No digest lists it again once its paid time has ended.
      const hasEnded = month.paidUntil <= request.now();
      const words = hasEnded
        ? `${label} is back on the list of servers to renew.`
        : `Reminders for ${label} are on again.`;
      await replyMarked(month, words, isPosted, request);
    }),
    ...renewAllActions,
    ...reminderPages.on(({ page }, request) => showPage(page, request)),
  ],
  modals: [renewAllModal],
});

/** Confirms a change of the reminders. In the user's own list, it also renders the page again. */
async function replyMarked(
  { page }: PressedMonth,
  words: string,
  isPosted: boolean,
  request: SlackRequest,
): Promise<void> {
  if (page !== undefined) await showPage(page, request);
  await request.reply.send(textMessage(words, ...unpostedNote(isPosted)));
}
