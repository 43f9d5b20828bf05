import {
  type Approval,
  type CancelDetails,
  type DeleteEndDetails,
  labelOfAction,
} from '../../domain/approval.ts';
import type { HostingCode, NoDetails, RefusalCode, RefusalDetails } from '../../domain/errors.ts';
import { describeReason, type ReasonWords } from '../../domain/reason.ts';
import { codeLabel, mention } from '../kit/text.ts';
import { wordsOfHosting, wordsOfRefusal } from '../words.ts';
import { kindOf } from './action-kind.ts';

type Canceled = Extract<Approval, { state: 'void' }>;
type Ended = Extract<Approval, { state: 'ended' }>;

/** Why an approval was canceled, as part of a sentence. */
export function cancelWords(approval: Canceled): string {
  return describeReason(CANCEL_WORDS, approval.reason, approval);
}

const CANCEL_WORDS: ReasonWords<CancelDetails, [Canceled]> = {
  role_needed: (_, { requesterId }) => `${mention(requesterId)} no longer has permission`,
  account_changed: () => 'the hosting account was reconnected after the request',
  unknown_server: () => 'the server no longer exists',
  server_protected: () => 'an owner has protected the server',
  label_differs: () => 'the server’s label has changed since the request',
  already_renewed: () => 'the server has been renewed since the request',
  unknown_choice: (_, { action }) =>
    `its ${kindOf(action) === 'create' ? 'plan, location or image' : 'plan'} is not in the catalog any more`,
  price_moved: () => 'its price has changed since it was asked for',
  over_budget: () => 'the budget of this month does not hold it any more',
  stale_confirmation: () => 'the app was away for too long after it was approved',
  unreadable: () => 'what it was about has changed',
};

/** How an approved delete ended; the messages about a purchase come from its operation. */
export function endWords({ action, reason }: Ended, currency: string): string {
  return describeReason(END_WORDS, reason, codeLabel(labelOfAction(action)), currency);
}

type EndWords<Details> = (details: Details, label: string, currency: string) => string;

/** Words for a delete that the hosting API refused. */
function failed(code: HostingCode | 'unknown_code'): EndWords<NoDetails> {
  return (_, label) => `${label} was not deleted: ${wordsOfHosting({ code })}`;
}

/** Words for a delete that one of our rules stopped. */
function refused<Code extends RefusalCode>(code: Code): EndWords<RefusalDetails[Code]> {
  return (details, label, currency) => `${label} was not deleted: ${wordsOfRefusal(code, details, currency)}`;
}

const END_WORDS: ReasonWords<DeleteEndDetails, [label: string, currency: string]> = {
  done: (_, label) => `${label} was deleted.`,
  server_protected: (_, label) => `${label} was not deleted: an owner has protected it.`,
  no_answer: (_, label) =>
    `We don’t know whether ${label} was deleted: the hosting API’s answer did not arrive.`,
  lost_account: (_, label) =>
    `We don’t know whether ${label} was deleted: the hosting API’s answer did not arrive, and the hosting account was connected anew since. Please look at the page of the account that was connected before.`,
  defect: (_, label) => `${label} was not deleted: something unexpected happened.`,
  unreadable: (_, label) =>
    `We don’t know whether ${label} was deleted: its outcome was written by another version of the app. \`/vps list\` shows whether it is still there.`,
  unauthorized: failed('unauthorized'),
  not_allowed: failed('not_allowed'),
  bad_request: failed('bad_request'),
  not_enough_balance: failed('not_enough_balance'),
  limit: failed('limit'),
  not_created: failed('not_created'),
  checking: failed('checking'),
  not_found: failed('not_found'),
  wrong_state: failed('wrong_state'),
  rate_limited: failed('rate_limited'),
  not_sent: failed('not_sent'),
  no_api_key: refused('no_api_key'),
  account_changed: refused('account_changed'),
  key_unreadable: refused('key_unreadable'),
  waited_too_long: refused('waited_too_long'),
  shutting_down: refused('shutting_down'),
};
