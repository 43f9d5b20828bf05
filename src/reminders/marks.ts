import { getWorkspace } from '../account/workspaces.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ServerId } from '../core/ids.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { DEFAULT_DIGEST } from '../core/settings.ts';
import { localDay } from '../core/time.ts';
import { getServer } from '../servers/find.ts';
import { editDigestSoon } from './digest.ts';
import { describeDigest, describeDue, listDue } from './digest-content.ts';
import {
  type Digest,
  findSnoozeEnd,
  NO_DRIFT,
  type ReminderMark,
  type ReminderSettings,
  type Snooze,
} from './reminder.ts';

/** Shows the servers that the actor may see and whose paid time ends soon, those without reminders too. */
export const listReminders = defineUseCase({
  name: 'reminders',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: (() => void) | undefined }, context): Promise<Digest> => {
    const { actor, app } = context;
    const { workspaceId } = actor;
    const hosting = await context.hosting();
    const { servers, extent } = await hosting.fetchServers({ onWait });
    const settings = await readReminderSettings(context);
    const postedAt = app.system.now();
    const day = localDay(postedAt, settings.zone);
    const due = listDue(servers, day, postedAt, settings, [])
      .map(({ server }) => server)
      .filter(({ label }) => context.covers(label));
    const content = {
      due: await describeDue(due, day, settings, hosting.account, workspaceId, app),
      expired: [],
      drift: NO_DRIFT,
      snoozed: 0,
      left: 0,
      isComplete: extent !== 'part',
    };
    return describeDigest({ workspaceId, day, content, postedAt }, app);
  },
});

interface ReminderInput {
  readonly id: ServerId;
  /** The end of the paid time that the button was shown for. */
  readonly paidUntil: number;
}

/** @throws Refusal `already_renewed`, `snooze_too_late`, `unknown_server`, `role_needed` */
export const snoozeReminder = defineUseCase({
  name: 'reminder_snooze',
  needs: 'operator',
  effect: 'changes',
  subject: ({ id }) => ({ serverId: id }),
  run: async (input: ReminderInput & { readonly snooze: Snooze }, context) => {
    const server = await getRemindedServer(input, context);
    const settings = await readReminderSettings(context);
    const today = localDay(context.app.system.now(), settings.zone);
    const untilDay = findSnoozeEnd(input.snooze, input.paidUntil, today, settings);
    if (untilDay === undefined) throw new Refusal('snooze_too_late', { label: server.label });
    return putMark(server, input.paidUntil, untilDay, context);
  },
  follow: (_output, { actor, app }) => editDigestSoon(actor.workspaceId, app),
});

/** Nothing happens to the server itself. @throws Refusal `already_renewed`, `unknown_server`, `role_needed` */
export const letExpire = defineUseCase({
  name: 'reminder_end',
  needs: 'manager',
  effect: 'changes',
  subject: ({ id }) => ({ serverId: id }),
  run: async (input: ReminderInput, context) => {
    const server = await getRemindedServer(input, context);
    return putMark(server, input.paidUntil, undefined, context);
  },
  follow: (_output, { actor, app }) => editDigestSoon(actor.workspaceId, app),
});

/** @throws Refusal `already_renewed`, `unknown_server`, `role_needed` */
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
  follow: (_output, { actor, app }) => editDigestSoon(actor.workspaceId, app),
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
): Promise<{ readonly server: Server; readonly mark: ReminderMark }> {
  const { id: serverId, label } = server;
  const at = app.system.now();
  const mark = { serverId, label, paidUntil, by: actor.userId, at, untilDay };
  await app.reminders.putMark(actor.workspaceId, mark);
  return { server, mark };
}

/** When reminders are due: as owners have set it for the digest, or as the form proposes it. */
export async function readReminderSettings(context: FollowUpContext): Promise<ReminderSettings> {
  return (await getWorkspace(context)).settings.digest ?? DEFAULT_DIGEST;
}
