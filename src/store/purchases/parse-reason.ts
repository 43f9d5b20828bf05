import { z } from 'zod';
import { ROLES } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { money } from '../../domain/money.ts';
import type { Standing } from '../../domain/operation.ts';
import type {
  OperationRefusal,
  OperationRefusalDetails,
  UnconfirmedDetails,
  UnconfirmedReason,
} from '../../domain/outcome.ts';
import { findReason, type Schemas } from '../engine/stored-reason.ts';
import type { OperationRow } from '../engine/tables.ts';

const none = z.object({});
const label = z.object({ label: z.string() });
const unreadable = z.object({ code: z.string() });

const amount = z.number().int().transform(money);

const REFUSALS: Schemas<OperationRefusalDetails> = {
  role_needed: z.object({
    needed: z.enum(ROLES),
    held: z.enum(ROLES).exactOptional(),
    label: z.string().exactOptional(),
    owners: z.array(z.string()).exactOptional(),
  }),
  identity_unknown: z.object({ userId: z.string().exactOptional() }),
  approval_needed: none,
  over_budget: z.object({
    whose: z.enum(['workspace', 'person']),
    spent: amount,
    most: amount,
    price: amount.exactOptional(),
  }),
  purchases_frozen: z.object({ frozenBy: z.string(), since: z.number() }),
  unknown_server: z.object({
    typed: z.string(),
    nearest: z.string().exactOptional(),
    nearestId: z.number().int().exactOptional(),
  }),
  unknown_choice: z.object({
    field: z.enum(['plan', 'location', 'image']),
    typed: z.string(),
    nearest: z.string().exactOptional(),
  }),
  price_moved: z.object({ before: amount, now: amount }),
  already_renewed: z.object({ label: z.string(), paidUntil: z.number() }),
  paid_until_unknown: label,
  create_in_doubt: label,
  create_in_doubt_elsewhere: label,
  label_taken: label,
  renewed_elsewhere: label,
  stale_confirmation: none,
  list_incomplete: none,
  account_changed: none,
  label_moved: z.object({ before: z.string(), now: z.string() }),
  no_api_key: none,
  key_unreadable: z.object({ keyId: z.string() }),
  waited_too_long: none,
  shutting_down: none,
  newer_version: none,
  unauthorized: none,
  not_allowed: none,
  bad_request: none,
  not_enough_balance: none,
  limit: none,
  not_created: none,
  checking: none,
  not_found: none,
  wrong_state: none,
  rate_limited: none,
  no_answer: none,
  unreadable_answer: none,
  not_sent: none,
  unknown_code: none,
  defect: none,
  not_done: none,
  decided_not_done: none,
  unreadable,
};

const UNCONFIRMED: Schemas<UnconfirmedDetails> = {
  checking: none,
  no_answer: none,
  unreadable_answer: none,
  unknown_code: none,
  defect: none,
  account_changed: none,
  contradiction: none,
  not_found_yet: none,
  no_api_key: none,
  key_rejected: none,
  restored: none,
  unreadable,
};

/** The columns that hold a reason. */
export function toReasonColumns(reason: OperationRefusal | UnconfirmedReason) {
  const { code, details } = reason;
  const written = JSON.stringify(details);
  return { reason: code, reason_details: written === '{}' ? null : written };
}

/**
 * The state of a row and the reason for it. A reason that another version has written is `unreadable`, never an error.
 * @throws Refusal `newer_version` for a state that this version doesn't know
 */
export function parseStanding(row: Pick<OperationRow, 'state' | 'reason' | 'reason_details'>): Standing {
  const code = row.reason ?? '';
  const details = row.reason_details ?? '{}';
  const unreadable = { code: 'unreadable', details: { code } } as const;
  if (row.state === 'refused')
    return { state: 'refused', reason: findReason(REFUSALS, code, details) ?? unreadable };
  if (row.state === 'in_doubt')
    return { state: 'unconfirmed', reason: findReason(UNCONFIRMED, code, details) ?? unreadable };
  if (!STORED_STATES.includes(row.state)) throw new Refusal('newer_version', {});
  return { state: row.state };
}

/** Every state that this version knows. */
export const STORED_STATES: readonly OperationRow['state'][] = [
  'prepared',
  'sent',
  'settled',
  'refused',
  'in_doubt',
];
