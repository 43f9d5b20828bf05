import {
  type HostingCode,
  HostingError,
  type HostingErrorDetails,
  type Refusal,
  type RefusalCode,
  type RefusalDetails,
  type UncheckedReason,
} from '../domain/errors.ts';
import { describeReason } from '../domain/reason.ts';
import { accessRefusalWords } from './access/refusal-words.ts';
import { accountRefusalWords } from './account/refusal-words.ts';
import { approvalRefusalWords } from './approvals/refusal-words.ts';
import type { RefusalWords } from './kit/refusal-words.ts';
import { codeTyped, escapeText } from './kit/text.ts';
import { purchaseRefusalWords } from './purchases/refusal-words.ts';
import { failedWords, isErrorStatus } from './servers/failed-words.ts';
import { serverRefusalWords } from './servers/refusal-words.ts';

/** The words of every refusal: a code without words does not compile. */
const REFUSALS: RefusalWords = {
  ...serverRefusalWords,
  ...purchaseRefusalWords,
  ...approvalRefusalWords,
  ...accessRefusalWords,
  ...accountRefusalWords,
  already_handled: () => 'This very request was handled before; nothing was done again.',
  unreadable_press: () => 'This button or form is of an older version of the app. Run the command again.',
  unknown_command: ({ typed, nearest }) =>
    `There is no command ${codeTyped(typed)}.${nearest ? ` Did you mean \`/vps ${nearest}\`?` : ''} \`/vps help\` lists what you can do.`,
  bad_words: ({ problem, usage }) => `${escapeText(problem)}\nUsage: \`${escapeText(usage)}\``,
  not_approved: ({ reason }, currency) =>
    `${wordsOfFailure(reason, currency)} Nothing was approved: it stays open, and can be approved later.`,
  waited_too_long: () =>
    'The hosting API’s limit of requests per minute kept this waiting for too long. Nothing was sent; try again in a minute.',
  shutting_down: () => 'The app is being restarted. Nothing was sent; try again in a moment.',
};

const HOSTING: Readonly<Record<HostingCode | 'unknown_code', string>> = {
  unauthorized:
    'The hosting API does not accept the API key of this workspace. An owner can set a working one with `/vps connect`.',
  not_allowed:
    'The hosting API is not open for this account yet: it opens after the first top-up of the balance on the account page.',
  bad_request: 'The hosting API did not accept a value, perhaps the label: try a shorter or plainer one.',
  not_enough_balance:
    'The balance of the hosting account is too low. Top it up on the account page, then try again.',
  limit:
    'The hosting account has as many servers as it may have. Delete one, or ask the hosting company for more.',
  not_created: 'The server could not be created. The month’s charge is back on the balance.',
  checking: 'The hosting company has not confirmed yet: it will complete the server or return the charge.',
  not_found: 'There is no such server in the account any more.',
  wrong_state: 'That does not suit the state that the server is in now.',
  rate_limited: 'The hosting API is taking no more requests this minute. Try again in a minute.',
  no_answer: 'The hosting API did not answer.',
  unreadable_answer: 'The hosting API’s answer could not be read.',
  unknown_code: 'The hosting API answered with an error that is not in its document.',
  not_sent: 'The hosting API could not be reached; nothing was sent.',
};

/** Says why one of our rules refused, in escaped mrkdwn. */
export function wordsOfRefusal<Code extends RefusalCode>(
  code: Code,
  details: RefusalDetails[Code],
  currency: string,
): string {
  return REFUSALS[code](details, currency);
}

/** Says what went wrong with the hosting API, in escaped mrkdwn; with the server's state or the unknown code, where known. */
export function wordsOfHosting({ code, details = {} }: HostingTrouble): string {
  const { unknownCode, state, status } = details;
  if (code === 'unreadable_answer' && isErrorStatus(status))
    return `The hosting API returned an error (${status}).`;
  if (state) return `${HOSTING[code]} It is ${codeTyped(state)}.`;
  return unknownCode ? `${HOSTING[code]} It said ${codeTyped(unknownCode)}.` : HOSTING[code];
}

/** A `HostingError`, or what was stored of one. */
interface HostingTrouble {
  readonly code: HostingCode | 'unknown_code';
  readonly details?: Pick<HostingErrorDetails, 'unknownCode' | 'state' | 'status'>;
}

/** Says what an expected error means, in escaped mrkdwn. */
export function wordsOfError(error: HostingError | Refusal, currency: string): string {
  if (!(error instanceof HostingError)) return wordsOfRefusal(error.code, error.details, currency);
  const { code, details } = error;
  return details.failed ? failedWords(details.failed, code, details) : wordsOfHosting(error);
}

/** Says why the hosting account could not be used, or that Slack did not say who a user is. */
function wordsOfFailure(reason: UncheckedReason, currency: string): string {
  switch (reason.code) {
    case 'key_unreadable':
    case 'identity_unknown':
    case 'no_api_key':
    case 'account_changed':
    case 'waited_too_long':
    case 'shutting_down':
      return describeReason<UncheckedRefusals, keyof UncheckedRefusals, [string]>(REFUSALS, reason, currency);
    default:
      return wordsOfHosting(reason);
  }
}

type UncheckedRefusals = Pick<
  RefusalDetails,
  | 'key_unreadable'
  | 'identity_unknown'
  | 'no_api_key'
  | 'account_changed'
  | 'waited_too_long'
  | 'shutting_down'
>;
