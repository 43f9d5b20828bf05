import {
  type Approval,
  type CancelDetails,
  type DeleteEndDetails,
  labelOfAction,
} from '../../domain/approval.ts';
import type { HostingCode, NoDetails, RefusalCode, RefusalDetails } from '../../domain/errors.ts';
import { describeReason, type ReasonWords } from '../../domain/reason.ts';
import { codeLabel, mention } from '../kit/text.ts';
import { failedWords } from '../servers/failed-words.ts';
import { wordsOfRefusal } from '../words.ts';
import { kindOf } from './action-kind.ts';

type Canceled = Extract<Approval, { state: 'canceled' }>;
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
    `the ${kindOf(action) === 'create' ? 'plan, location or image' : 'plan'} is no longer in the catalog`,
  price_moved: () => 'the price has changed since the request',
  over_budget: () => 'this month’s budget no longer covers it',
  stale_confirmation: () => 'the app was offline too long after approval',
  restored: () =>
    'the app’s database was restored from a backup, so we can’t tell whether it was already answered',
  unreadable: () => 'something has changed since the request',
};

/** How an approved delete ended; the messages about a purchase come from its operation. */
export function endWords({ action, reason }: Ended, currency: string): string {
  const name = labelOfAction(action);
  return describeReason(END_WORDS, reason, codeLabel(name), { currency, name });
}

interface Wording {
  readonly currency: string;
  /** The label as it is, unlike the one that is ready to be shown. */
  readonly name: string;
}

type EndWords<Details> = (details: Details, label: string, wording: Wording) => string;

/** Words for a delete that the hosting API refused. */
function failed(code: HostingCode | 'unknown_code'): EndWords<NoDetails> {
  return (_details, _label, { name }) => failedWords({ act: 'delete', label: name }, code, {});
}

/** Words for a delete that one of our rules stopped. */
function refused<Code extends RefusalCode>(code: Code): EndWords<RefusalDetails[Code]> {
  return (details, label, { currency }) =>
    `${label} was not deleted. ${wordsOfRefusal(code, details, currency)}`;
}

const END_WORDS: ReasonWords<DeleteEndDetails, [label: string, wording: Wording]> = {
  done: (_, label) => `${label} was deleted.`,
  server_protected: (_, label) => `${label} was not deleted: an owner has protected it.`,
  no_answer: (_, label) =>
    `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it. Check with \`/vps list\`.`,
  lost_account: (_, label) =>
    `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it, and the hosting account was reconnected since. Check the previous account’s page.`,
  defect: (_, label) =>
    `Something went wrong while deleting ${label}, so we’re not sure whether it was deleted. Check with \`/vps list\`.`,
  unreadable: (_, label) =>
    `We’re not sure whether ${label} was deleted: another version of the app saved the result. Check with \`/vps list\`.`,
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
  account_changed: (_, label) =>
    `${label} was not deleted: the hosting account was reconnected after the request.`,
  key_unreadable: refused('key_unreadable'),
  waited_too_long: refused('waited_too_long'),
  shutting_down: refused('shutting_down'),
};
