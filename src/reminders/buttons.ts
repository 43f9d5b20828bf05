import { z } from 'zod';
import { defineButton } from '../slack/kit/button.ts';
import { pageNumber } from '../slack/kit/pages.ts';

/**
 * One month of a server: on an old message, a button must not be about the month after it. `page`: it stands in the modal
 * that shows all servers to renew, on that page.
 */
const month = z.object({
  id: z.number().int(),
  paidUntil: z.number(),
  page: pageNumber.exactOptional(),
});
export type PressedMonth = z.output<typeof month>;

export const snoozeButtons = {
  day: defineButton('snooze_day', month),
  step: defineButton('snooze_step', month),
} as const;
export const letExpireButton = defineButton('let_expire', month);
export const remindButton = defineButton('remind_again', month);
/** Opens the review of all renewals that are due, or of `only` these servers. */
export const renewAllInput = z.object({ only: z.array(z.number().int()).exactOptional() });
export const renewAllButton = defineButton('renew_all', renewAllInput);
export const allRemindersButton = defineButton('all_reminders', z.object({}));
export const remindersButton = defineButton('reminders', z.object({}));
