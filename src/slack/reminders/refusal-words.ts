import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel } from '../kit/text.ts';

/** What the refusals of reminders say. */
export const reminderRefusalWords = {
  snooze_too_late: ({ label }) =>
    `The paid time of ${codeLabel(label)} ends too soon to snooze its reminder. Renew it, or let it expire.`,
  nothing_to_renew: () => 'None of the servers you can renew need to be renewed soon.',
} satisfies Partial<RefusalWords>;
