import { z } from 'zod';
import type { ApprovalOutcome, CancelDetails, DeleteEndDetails } from '../../domain/approval.ts';
import { APPROVAL_STATES } from '../../domain/decision.ts';
import type { Reason } from '../../domain/reason.ts';
import { parseKnown } from '../newer-version.ts';

/** How each reason is read: one that is missing here does not compile. */
type ReasonSchemas<Details> = { readonly [Code in keyof Details]: z.ZodType<Reason<Details, Code>> };

const UNREADABLE = { code: 'unreadable', details: {} } as const;

function plain<Code extends string>(code: Code) {
  return z.object({ code: z.literal(code), details: z.object({}) });
}

const CANCEL_REASONS: ReasonSchemas<CancelDetails> = {
  role_needed: plain('role_needed'),
  account_changed: plain('account_changed'),
  unknown_server: plain('unknown_server'),
  label_differs: plain('label_differs'),
  server_protected: plain('server_protected'),
  already_renewed: plain('already_renewed'),
  unknown_choice: plain('unknown_choice'),
  price_moved: plain('price_moved'),
  over_budget: plain('over_budget'),
  stale_confirmation: plain('stale_confirmation'),
  restored: plain('restored'),
  unreadable: plain('unreadable'),
};

const DELETE_ENDS: ReasonSchemas<DeleteEndDetails> = {
  done: plain('done'),
  server_protected: plain('server_protected'),
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
  key_unreadable: z.object({ code: z.literal('key_unreadable'), details: z.object({ keyId: z.string() }) }),
  waited_too_long: plain('waited_too_long'),
  shutting_down: plain('shutting_down'),
  unreadable: plain('unreadable'),
};

const cancelReason = z.union(Object.values(CANCEL_REASONS)).catch(UNREADABLE);
const deleteEnd = z.union(Object.values(DELETE_ENDS)).catch(UNREADABLE);

interface OutcomeColumns {
  readonly state: string;
  readonly reason: string | null;
  /** JSON; NULL if there is no reason, or if an older version wrote the row. */
  readonly reason_details: string | null;
}

/**
 * Reads an approval's state and reason. A reason that this version doesn't know becomes `unreadable`.
 * @throws Refusal `newer_version` for a state that it doesn't know
 */
export function readOutcome(row: OutcomeColumns): ApprovalOutcome {
  const state = parseKnown(z.enum(APPROVAL_STATES), row.state);
  const details: unknown = row.reason_details === null ? {} : JSON.parse(row.reason_details);
  const stored = { code: row.reason, details };
  if (state === 'canceled') return { state, reason: cancelReason.parse(stored) };
  if (state === 'ended') return { state, reason: deleteEnd.parse(stored) };
  return { state };
}

/** Makes the columns of an outcome. */
export function toOutcomeColumns(outcome: ApprovalOutcome) {
  const { state } = outcome;
  const reason = 'reason' in outcome ? outcome.reason : undefined;
  return {
    state,
    reason: reason?.code ?? null,
    reason_details: reason === undefined ? null : JSON.stringify(reason.details),
  };
}
