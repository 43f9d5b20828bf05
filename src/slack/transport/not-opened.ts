import { isProven } from './single-posts.ts';

/** A trigger expires after 3 s and works once; these are the errors about it. */
const EXPIRED = ['expired_trigger_id', 'exchanged_trigger_id', 'trigger_expired', 'trigger_exchanged'];

/** What an error of `views.open` or `views.update` says about the modal; `unanswered`: it may be open. */
export function whyNotOpened(error: string): 'too_late' | 'refused' | 'unanswered' {
  if (EXPIRED.includes(error)) return 'too_late';
  return isProven(error) ? 'refused' : 'unanswered';
}
