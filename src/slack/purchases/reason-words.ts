import type { HostingCode, RefusalDetails } from '../../domain/errors.ts';
import { describeMoney, money } from '../../domain/money.ts';
import {
  isProven,
  moneyOf,
  type OperationRefusal,
  type ProvenRefusalDetails,
  type PurchaseRefusalCode,
  type UnconfirmedDetails,
  type UnconfirmedReason,
  type UnprovenRefusalDetails,
} from '../../domain/outcome.ts';
import { describeReason, type ReasonWords } from '../../domain/reason.ts';
import { frozenWords } from '../account/frozen-words.ts';
import { codeLabel, slackDate } from '../kit/text.ts';
import { wordsOfHosting, wordsOfRefusal } from '../words.ts';

/**
 * Why an order was refused, and what is proven about its money. "Nothing was charged" is said by that proof alone,
 * whatever the words of the reason are.
 */
export function refusalWords(reason: OperationRefusal, currency: string): string {
  if (!isProven(reason)) return describeReason(UNPROVEN, reason);
  return `${describeReason(PROVEN, reason, currency)} ${MONEY[moneyOf(reason)]}`;
}

const MONEY: Readonly<Record<ReturnType<typeof moneyOf>, string>> = {
  untouched: 'Nothing was charged.',
  returned: 'The month’s charge is back on the balance.',
};

const PROVEN: ReasonWords<ProvenRefusalDetails, [currency: string]> = {
  role_needed: (details, currency) => shared('role_needed', details, currency),
  identity_unknown: () =>
    'Slack couldn’t confirm just now that you may still do this. Try again in a minute.',
  approval_needed: () =>
    'Since you confirmed it, this needs another manager’s approval. Confirm it again to request that.',
  purchases_frozen: (details) => frozenWords(details),
  unknown_server: (details, currency) => shared('unknown_server', details, currency),
  unknown_choice: (details, currency) => shared('unknown_choice', details, currency),
  no_api_key: (details, currency) => shared('no_api_key', details, currency),
  key_unreadable: (details, currency) => shared('key_unreadable', details, currency),
  price_moved: ({ before, now }, currency) =>
    `The price has changed from ${describeMoney(money(before), currency)} to ${describeMoney(money(now), currency)} a month since you looked.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} is paid until ${slackDate(paidUntil)} now: it was renewed since you looked.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API does not say until when ${codeLabel(label)} is paid, so we could not tell afterwards whether a renewal had worked. Renew it on the account page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order of ${codeLabel(label)} is still in doubt. Wait for its outcome, or choose another label.`,
  stale_confirmation: () => 'This confirmation was too old to be carried out.',
  list_incomplete: () => 'The hosting API didn’t return the complete list of servers. Try again later.',
  account_changed: () =>
    'The hosting account was connected anew after this was confirmed, and it may be another one.',
  label_moved: ({ before, now }) =>
    `The server has another label now: ${codeLabel(now)} instead of ${codeLabel(before)}.`,
  waited_too_long: () =>
    'The hosting API’s limit of requests per minute kept this waiting for too long. Try again in a minute.',
  shutting_down: () => 'The app is being restarted. Try again in a moment.',
  unauthorized: () => sharedHosting('unauthorized'),
  not_allowed: () => sharedHosting('not_allowed'),
  bad_request: () => sharedHosting('bad_request'),
  not_enough_balance: () => sharedHosting('not_enough_balance'),
  limit: () => sharedHosting('limit'),
  not_created: () => 'The server could not be created.',
  // As the answer to one of the reads before the order: the answer to the order itself would leave it unconfirmed.
  checking: () => 'The hosting API was not ready to answer.',
  not_found: () => sharedHosting('not_found'),
  wrong_state: () => sharedHosting('wrong_state'),
  rate_limited: () => sharedHosting('rate_limited'),
  no_answer: () => sharedHosting('no_answer'),
  unreadable_answer: () => sharedHosting('unreadable_answer'),
  unknown_code: () => sharedHosting('unknown_code'),
  not_sent: () => 'The hosting API could not be reached.',
  defect: () => 'Something unexpected happened before anything was sent.',
};

const UNPROVEN: ReasonWords<UnprovenRefusalDetails> = {
  not_done: () =>
    'We can’t rule out a charge: check your hosting account before you order again. If it happens after all, we’ll tell you here.',
  decided_not_done: () =>
    'A manager checked the hosting account and decided this. If it was charged after all, we’ll tell you here.',
  unreadable: () =>
    'Why was written by another version of the app and can’t be read. Check the hosting account for a charge before you order again.',
};

/** Why it is not known whether an order was carried out. */
export function unconfirmedWords(reason: UnconfirmedReason): string {
  return describeReason(UNCONFIRMED, reason);
}

const NO_USABLE_ANSWER = 'The hosting API’s answer did not arrive, or could not be read.';

const UNCONFIRMED: ReasonWords<UnconfirmedDetails> = {
  checking: () => 'The hosting company has not confirmed the order yet.',
  no_answer: () => NO_USABLE_ANSWER,
  unreadable_answer: () => NO_USABLE_ANSWER,
  unknown_code: () => NO_USABLE_ANSWER,
  defect: () => NO_USABLE_ANSWER,
  account_changed: () => 'The hosting account was connected anew since.',
  contradiction: () => 'What the hosting API shows doesn’t fit this order.',
  not_found_yet: () => 'It hasn’t appeared in the hosting account so far.',
  no_api_key: () => 'No hosting account is connected, so we can’t check.',
  key_rejected: () => 'The hosting API rejects the API key, so we can’t check.',
  unreadable: () => NO_USABLE_ANSWER,
};

/** The words that every surface has for this refusal. */
function shared<Code extends PurchaseRefusalCode>(
  code: Code,
  details: RefusalDetails[Code],
  currency: string,
): string {
  return wordsOfRefusal(code, details, currency);
}

function sharedHosting(code: HostingCode | 'unknown_code'): string {
  return wordsOfHosting({ code });
}
