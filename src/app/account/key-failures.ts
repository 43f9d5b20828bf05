import type { HostingCode } from '../../domain/errors.ts';
import { LONGEST_KEY, type PastedKey } from './connect-key.ts';

const ERROR = 'The hosting API returned an error, so the key wasn’t tested. Try again in a moment.';

/**
 * Why a key was not stored, for the user who enters it, on the connect page and on the command line: plain text, and a code
 * without words does not compile.
 */
export const KEY_FAILURES: Readonly<Record<HostingCode | 'unknown_code', string>> = {
  unauthorized:
    'The hosting API rejected this key. Check that you copied all of it, or create a new one and try again.',
  not_allowed:
    'The hosting API isn’t open for this account yet: it opens with the first top-up. Add funds on your hosting account’s page, then try again.',
  rate_limited: 'We’ve hit the hosting API’s rate limit, so the key wasn’t tested. Try again in a minute.',
  no_answer: 'The hosting API didn’t answer, so the key wasn’t tested. Try again in a moment.',
  not_sent: 'We couldn’t reach the hosting API, so the key wasn’t tested. Try again in a moment.',
  unreadable_answer:
    'The hosting API returned an answer we couldn’t read, so the key wasn’t tested. Try again in a moment.',
  unknown_code: 'The hosting API returned an unknown error, so the key wasn’t tested. Try again in a moment.',
  bad_request: ERROR,
  not_enough_balance: ERROR,
  limit: ERROR,
  not_created: ERROR,
  checking: ERROR,
  not_found: ERROR,
  wrong_state: ERROR,
};

/** What was entered can't be a key. */
export const WRONG_KEYS: Readonly<Record<Extract<PastedKey, { wrong: string }>['wrong'], string>> = {
  not_a_key:
    'That doesn’t look like an API key. It’s one line of letters, digits and symbols, without spaces.',
  too_long: `That’s too long for an API key: it can have ${LONGEST_KEY} characters at most. Nothing was stored. Copy the key alone and try again.`,
};
