import type { CancelDetails, DeleteEndDetails } from '../../src/domain/approval.ts';
import type { Reason } from '../../src/domain/reason.ts';

type EveryReason<Details> = { readonly [Code in keyof Details]: Reason<Details, Code> };
const plain = <Code extends string>(code: Code) => ({ code, details: {} });

/** Every reason for which an approval is canceled; one that is missing does not compile. */
const CANCELED: EveryReason<CancelDetails> = {
  role_needed: plain('role_needed'),
  account_changed: plain('account_changed'),
  unknown_server: plain('unknown_server'),
  label_differs: plain('label_differs'),
  already_renewed: plain('already_renewed'),
  unknown_choice: plain('unknown_choice'),
  price_moved: plain('price_moved'),
  over_budget: plain('over_budget'),
  stale_confirmation: plain('stale_confirmation'),
  unreadable: plain('unreadable'),
};

/** Every end of an approved delete. */
const ENDED: EveryReason<DeleteEndDetails> = {
  done: plain('done'),
  no_answer: plain('no_answer'),
  lost_account: plain('lost_account'),
  defect: plain('defect'),
  unauthorized: plain('unauthorized'),
  not_allowed: plain('not_allowed'),
  bad_request: plain('bad_request'),
  not_enough_balance: plain('not_enough_balance'),
  limit: plain('limit'),
  not_created: plain('not_created'),
  checking: plain('checking'),
  not_found: plain('not_found'),
  wrong_state: plain('wrong_state'),
  rate_limited: plain('rate_limited'),
  not_sent: plain('not_sent'),
  no_api_key: plain('no_api_key'),
  account_changed: plain('account_changed'),
  key_unreadable: { code: 'key_unreadable', details: { keyId: 'k1' } },
  waited_too_long: plain('waited_too_long'),
  shutting_down: plain('shutting_down'),
  unreadable: plain('unreadable'),
};

export const CANCEL_REASONS = Object.values(CANCELED);
export const DELETE_ENDS = Object.values(ENDED);
