import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { localDay } from '../../domain/local-time.ts';
import { findSnoozeEnd, type ReminderMark, type Snooze } from '../../domain/reminder.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../authorize/use-case.ts';
import { getServer } from '../servers/find-server.ts';
import { refreshDigest } from './refresh-digest.ts';
import { readReminderSettings } from './reminder-settings.ts';

/** One month of a server, as a button names it. */
export interface ReminderInput {
  readonly id: ServerId;
  /** The end of the paid time that the button was shown for. */
  readonly paidUntil: number;
}

export interface MarkedReminder {
  readonly server: Server;
  readonly mark: ReminderMark;
}

/**
 * Leaves a server out of the digest for a day, or until the next step.
 * @throws Refusal `already_renewed`, `snooze_too_late`, `unknown_server`, `role_needed`
 */
export const snoozeReminder = defineUseCase({
  name: 'reminder_snooze',
  needs: 'operator',
  effect: 'changes',
  subject: ({ id }) => ({ serverId: id }),
  run: async (input: ReminderInput & { readonly snooze: Snooze }, context): Promise<MarkedReminder> => {
    const server = await getRemindedServer(input, context);
    const settings = await readReminderSettings(context);
    const today = localDay(context.app.system.now(), settings.zone);
    const untilDay = findSnoozeEnd(input.snooze, input.paidUntil, today, settings);
    if (untilDay === undefined) throw new Refusal('snooze_too_late', { label: server.label });
    return putMark(server, input.paidUntil, untilDay, context);
  },
  follow: (_output, context) => refresh(context),
});

/**
 * Ends the reminders for this month of a server: it is meant to expire. Nothing happens to the server itself.
 * @throws Refusal `already_renewed`, `unknown_server`, `role_needed`
 */
export const letExpire = defineUseCase({
  name: 'reminder_end',
  needs: 'manager',
  effect: 'changes',
  subject: ({ id }) => ({ serverId: id }),
  run: async (input: ReminderInput, context): Promise<MarkedReminder> => {
    const server = await getRemindedServer(input, context);
    return putMark(server, input.paidUntil, undefined, context);
  },
  follow: (_output, context) => refresh(context),
});

/**
 * Takes back a snooze, or that a server is left to expire.
 * @throws Refusal `already_renewed`, `unknown_server`, `role_needed`
 */
export const remindAgain = defineUseCase({
  name: 'reminder_again',
  needs: 'operator',
  effect: 'changes',
  subject: ({ id }) => ({ serverId: id }),
  run: async (input: ReminderInput, context): Promise<Server> => {
    const server = await getRemindedServer(input, context);
    await context.app.reminders.removeMark(context.actor.workspaceId, input.id, input.paidUntil);
    return server;
  },
  follow: (_output, context) => refresh(context),
});

/** A button on an old message may be about a month that was renewed since. */
async function getRemindedServer({ id, paidUntil }: ReminderInput, context: UseCaseContext): Promise<Server> {
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
): Promise<MarkedReminder> {
  const { id: serverId, label } = server;
  const at = app.system.now();
  const mark = { serverId, label, paidUntil, by: actor.userId, at, untilDay };
  await app.reminders.putMark(actor.workspaceId, mark);
  return { server, mark };
}

async function refresh({ actor, app }: FollowUpContext): Promise<void> {
  await refreshDigest(actor.workspaceId, app);
}
