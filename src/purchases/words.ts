import { describeReason, type HostingCode, type ReasonWords, type RefusalDetails } from '../core/errors.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import { describeMoney, describeMonthly, money } from '../core/money.ts';
import { codeLabel, escapeText, slackDate } from '../slack/kit/text.ts';
import { budgetWords, frozenWords, wordsOfHosting, wordsOfRefusal } from '../words.ts';
import {
  isProven,
  moneyOf,
  type Operation,
  type OperationRefusal,
  type ProvenRefusalDetails,
  type PurchaseRefusalCode,
  type UnconfirmedDetails,
  type UnconfirmedReason,
  type UnprovenRefusalDetails,
} from './operation.ts';

/** What the words for an outcome are made with. */
export interface Wording {
  /** What prices are in; empty when the operator has not said. */
  readonly currency: string;
  /** The hosting account's page (`HOSTING_ACCOUNT_URL`). */
  readonly accountUrl?: string | undefined;
}

interface Refused extends Wording {
  readonly price: Operation['price'];
}

/** "wasn’t created, and nothing was charged. …": said by proof alone, whatever the words of the reason are. */
export function refusalWords(reason: OperationRefusal, done: string, refused: Refused): string {
  if (!isProven(reason)) {
    return `wasn’t ${done}. ${describeReason(UNPROVEN, reason)}`;
  }
  return `wasn’t ${done}${MONEY[moneyOf(reason)]}. ${describeReason(PROVEN, reason, refused)}`;
}

const MONEY: Readonly<Record<ReturnType<typeof moneyOf>, string>> = {
  untouched: ', and nothing was charged',
  returned: ', and the month’s charge is back on the balance',
};

const PROVEN: ReasonWords<ProvenRefusalDetails, [refused: Refused]> = {
  role_needed: (details, { currency }) => shared('role_needed', details, currency),
  identity_unknown: () => 'Slack couldn’t confirm your role. Try again in a minute.',
  approval_needed: () => 'This order now needs another manager’s approval. Try again to request it.',
  over_budget: (details, { currency }) =>
    `${budgetWords(details, currency)} An owner can change the budget with \`/vps settings\`.`,
  purchases_frozen: (details) => frozenWords(details),
  unknown_server: (details, { currency }) => shared('unknown_server', details, currency),
  unknown_choice: (details, { currency }) => shared('unknown_choice', details, currency),
  no_api_key: (details, { currency }) => shared('no_api_key', details, currency),
  key_unreadable: (details, { currency }) => shared('key_unreadable', details, currency),
  price_moved: ({ before, now }, { currency }) =>
    `The price changed from ${escapeText(describeMonthly(money(before), currency))} to ${escapeText(describeMonthly(money(now), currency))} while you were looking at this. Try again to review the new price.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} was renewed while you were looking at this and is now paid until ${slackDate(paidUntil)}.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API doesn’t report when the paid time of ${codeLabel(label)} ends, so we couldn’t verify a renewal. Renew ${codeLabel(label)} on the hosting account’s page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order for ${codeLabel(label)} is still unconfirmed. Wait for its result, or choose another label.`,
  create_in_doubt_elsewhere: ({ label }) =>
    `An order for ${codeLabel(label)} from another workspace on the same hosting account is still unconfirmed. Choose another label, or try again when it’s resolved there.`,
  label_taken: ({ label }) =>
    `A server called ${codeLabel(label)} has appeared since you reviewed the order. If you want another one, try again.`,
  renewed_elsewhere: ({ label }) =>
    `This month of ${codeLabel(label)} was already ordered from another workspace on the same hosting account.`,
  stale_confirmation: () => 'The order wasn’t sent in time. Try again.',
  list_incomplete: () => `${PART_OF_LIST} Try again later.`,
  account_changed: () => 'The hosting account was reconnected after you confirmed.',
  label_moved: ({ before, now }) =>
    `The server is now called ${codeLabel(now)} instead of ${codeLabel(before)}.`,
  waited_too_long: () => 'The order waited too long for the hosting API’s rate limit. Try again in a minute.',
  shutting_down: () => 'The app is restarting. Try again in a moment.',
  unauthorized: () => sharedHosting('unauthorized'),
  not_allowed: () => sharedHosting('not_allowed'),
  bad_request: () => sharedHosting('bad_request'),
  not_enough_balance: (_, refused) => balanceWords(refused),
  limit: () => sharedHosting('limit'),
  not_created: () => 'The hosting company couldn’t create the server.',
  // As the answer to one of the reads before the order: the answer to the order itself would leave it unconfirmed.
  checking: () => 'The hosting API wasn’t ready to answer. Try again in a minute.',
  not_found: () => sharedHosting('not_found'),
  wrong_state: () => sharedHosting('wrong_state'),
  rate_limited: () => sharedHosting('rate_limited'),
  no_answer: () => sharedHosting('no_answer'),
  unreadable_answer: () => sharedHosting('unreadable_answer'),
  unknown_code: () => sharedHosting('unknown_code'),
  not_sent: () => 'The hosting API couldn’t be reached.',
  defect: () => 'Something went wrong before the order was sent. Your admin can find it in the log.',
};

/** How much is missing isn't known: the API doesn't report the balance. */
function balanceWords({ price, currency, accountUrl }: Refused): string {
  const needed =
    price === undefined
      ? ' for one more month.'
      : `: you need at least ${escapeText(describeMoney(price, currency))}.`;
  return `The hosting account’s balance is too low${needed} ${topUpWords(accountUrl)}, then try again.`;
}

/** "the hosting account’s page", as a link if its address is known. */
export function accountPage(accountUrl: string | undefined): string {
  const page = 'hosting account’s page';
  return `the ${accountUrl === undefined ? page : `<${escapeText(accountUrl)}|${page}>`}`;
}

/** "Top up the account", as a link if its page is known. */
export function topUpWords(accountUrl: string | undefined): string {
  return accountUrl === undefined
    ? 'Top up on the hosting account’s page'
    : `<${escapeText(accountUrl)}|Top up the hosting account>`;
}

const UNPROVEN: ReasonWords<UnprovenRefusalDetails> = {
  decided_not_done: () =>
    'A manager checked the hosting account and closed this order. If it was charged after all, we’ll tell you here.',
};

/** Why it is not known whether an order was carried out, as the middle of a sentence. */
export function unconfirmedWords(reason: UnconfirmedReason): string {
  return describeReason(UNCONFIRMED, reason);
}

const UNCONFIRMED: ReasonWords<UnconfirmedDetails> = {
  checking: () => 'the hosting company hasn’t confirmed the order yet',
  no_answer: () => 'the hosting API didn’t answer',
  unreadable_answer: () => 'the hosting API’s answer couldn’t be read',
  unknown_code: () => 'the hosting API returned an unknown error',
  defect: () => 'something went wrong while the order was being sent',
  account_changed: () => 'the hosting account was reconnected before the answer arrived',
  contradiction: () => 'what the hosting API shows doesn’t match the order',
  not_found_yet: () => 'the order hasn’t appeared in the hosting account',
  no_api_key: () => 'no hosting account is connected, so we can’t check',
  key_rejected: () => 'the hosting API rejects the API key, so we can’t check',
  restored: () => 'the app’s database was restored from a backup, which doesn’t have the result',
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
