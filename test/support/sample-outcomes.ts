import type {
  OperationRefusal,
  OperationRefusalDetails,
  UnconfirmedDetails,
  UnconfirmedReason,
} from '../../src/domain/outcome.ts';
import type { Reason } from '../../src/domain/reason.ts';
import { NOW } from './fixtures.ts';

type Samples<Details> = { readonly [Code in keyof Details]: Reason<Details, Code> };

/** Every reason for which an order can be refused; the type demands one of each. */
export function refusalsOf(label: string): readonly OperationRefusal[] {
  const samples: Samples<OperationRefusalDetails> = {
    role_needed: { code: 'role_needed', details: { needed: 'manager' } },
    unknown_server: { code: 'unknown_server', details: { typed: label } },
    unknown_choice: { code: 'unknown_choice', details: { field: 'plan', typed: label } },
    price_moved: { code: 'price_moved', details: { before: 590, now: 690 } },
    already_renewed: { code: 'already_renewed', details: { label, paidUntil: NOW } },
    paid_until_unknown: { code: 'paid_until_unknown', details: { label } },
    create_in_doubt: { code: 'create_in_doubt', details: { label } },
    stale_confirmation: { code: 'stale_confirmation', details: {} },
    account_changed: { code: 'account_changed', details: {} },
    label_moved: { code: 'label_moved', details: { before: label, now: label } },
    no_api_key: { code: 'no_api_key', details: {} },
    key_unreadable: { code: 'key_unreadable', details: { keyId: 'k1' } },
    waited_too_long: { code: 'waited_too_long', details: {} },
    shutting_down: { code: 'shutting_down', details: {} },
    unauthorized: { code: 'unauthorized', details: {} },
    not_allowed: { code: 'not_allowed', details: {} },
    bad_request: { code: 'bad_request', details: {} },
    not_enough_balance: { code: 'not_enough_balance', details: {} },
    limit: { code: 'limit', details: {} },
    not_created: { code: 'not_created', details: {} },
    checking: { code: 'checking', details: {} },
    not_found: { code: 'not_found', details: {} },
    wrong_state: { code: 'wrong_state', details: {} },
    rate_limited: { code: 'rate_limited', details: {} },
    no_answer: { code: 'no_answer', details: {} },
    unreadable_answer: { code: 'unreadable_answer', details: {} },
    not_sent: { code: 'not_sent', details: {} },
    unknown_code: { code: 'unknown_code', details: {} },
    defect: { code: 'defect', details: {} },
    not_done: { code: 'not_done', details: {} },
    decided_not_done: { code: 'decided_not_done', details: {} },
    unreadable: { code: 'unreadable', details: { code: 'code_of_the_future' } },
  };
  return Object.values(samples);
}

const UNCONFIRMED: Samples<UnconfirmedDetails> = {
  checking: { code: 'checking', details: {} },
  no_answer: { code: 'no_answer', details: {} },
  unreadable_answer: { code: 'unreadable_answer', details: {} },
  unknown_code: { code: 'unknown_code', details: {} },
  defect: { code: 'defect', details: {} },
  account_changed: { code: 'account_changed', details: {} },
  unreadable: { code: 'unreadable', details: { code: 'code_of_the_future' } },
};

/** Every reason for which an order can be unconfirmed. */
export const unconfirmedReasons: readonly UnconfirmedReason[] = Object.values(UNCONFIRMED);
