import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

/** One month of a server: on an old message, a button must not be about the month after it. */
const month = z.object({ id: z.number().int(), paidUntil: z.number() });

export const snoozeButtons = {
  day: defineButton('snooze_day', month),
  step: defineButton('snooze_step', month),
} as const;
export const letExpireButton = defineButton('let_expire', month);
export const remindButton = defineButton('remind_again', month);
/** Opens the review of all renewals that are due. */
export const renewAllButton = defineButton('renew_all', z.object({}));
export const remindersButton = defineButton('reminders', z.object({}));
