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
import { reminderRefusalWords } from './reminders/refusal-words.ts';
import { failedWords, isErrorStatus } from './servers/failed-words.ts';
import { serverRefusalWords } from './servers/refusal-words.ts';
import { workflowRefusalWords } from './workflows/refusal-words.ts';

/** The words of every refusal: a code without words does not compile. */
const REFUSALS: RefusalWords = {
  ...serverRefusalWords,
  ...purchaseRefusalWords,
  ...reminderRefusalWords,
  ...approvalRefusalWords,
  ...accessRefusalWords,
  ...accountRefusalWords,
  ...workflowRefusalWords,
  already_handled: () => 'This request was already handled.',
  unreadable_press: () => 'This button or form is out of date. Run the command again.',
  newer_version: () =>
    'This was saved by a newer version of the app, and this version can’t read it. Nothing was changed. Your admin can update the app.',
  unknown_command: ({ typed, nearest }) =>
    `There’s no ${codeTyped(typed)} command.${nearest ? ` Did you mean \`/vps ${nearest}\`?` : ''} \`/vps help\` lists what you can do.`,
  bad_words: ({ problem, usage }) => `${escapeText(problem)}\nUsage: \`${escapeText(usage)}\``,
  not_approved: ({ reason }, currency) =>
    `${wordsOfFailure(reason, currency)} Nothing was approved. The request is still pending, so you can approve it later.`,
  too_many_waiting: () =>
    'Too many of your requests are waiting for the hosting API’s rate limit, so this one wasn’t sent. Try again in a minute.',
  waited_too_long: () =>
    'Your request waited too long for the hosting API’s rate limit, so nothing was sent. Try again in a minute.',
  shutting_down: () => 'The app is restarting, so nothing was sent. Try again in a moment.',
};

const HOSTING: Readonly<Record<HostingCode | 'unknown_code', string>> = {
  unauthorized:
    'The hosting API rejected the API key of this workspace. An owner can connect a working key with `/vps connect`.',
  not_allowed:
    'The hosting API isn’t open for this account yet. It opens after the first top-up on the hosting account’s page.',
  bad_request: 'The hosting API rejected the request. Try a shorter or simpler label.',
  not_enough_balance:
    'The hosting account’s balance is too low. Top it up on the hosting account’s page, then try again.',
  limit:
    'The hosting account has reached its server limit. Delete a server, or ask the hosting company for a higher limit.',
  not_created: 'The hosting company couldn’t create the server. The month’s charge is back on the balance.',
  checking:
    'The hosting company hasn’t confirmed the order yet: it will either create the server or return the charge.',
  not_found: 'The server is no longer in the hosting account.',
  wrong_state: 'The server’s current state doesn’t allow this.',
  rate_limited: 'The hosting API’s rate limit is used up. Try again in a minute.',
  no_answer: 'The hosting API didn’t answer.',
  unreadable_answer: 'The hosting API’s answer couldn’t be read.',
  unknown_code: 'The hosting API returned an unknown error.',
  not_sent: 'The hosting API couldn’t be reached, so nothing was sent.',
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

/** Says that the database is away. Nothing was done only where nothing had begun; undefined where that is not known. */
export function wordsOfUnreachable(hasBegun: boolean | undefined): string {
  const away = 'The app can’t reach its database right now';
  if (hasBegun === undefined) return `${away}. Try again in a minute.`;
  if (!hasBegun) return `${away}, so nothing was done. Try again in a minute.`;
  return `${away}, so it can’t tell whether this was done. It may still go through: before you repeat it, check \`/vps list\` or \`/vps status\` in a few minutes.`;
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
