import { z } from 'zod';
import { Refusal } from '../core/errors.ts';
import type { ServerId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { ROLES } from '../core/roles.ts';
import { keepPresent } from '../db/engine.ts';
import { findReason, parseKnown, type Schemas } from '../db/stored-reason.ts';
import type { OperationRow } from '../db/tables.ts';
import {
  claimOf,
  type Operation,
  type OperationRefusal,
  type OperationRefusalDetails,
  type OperationState,
  type Purchase,
  SEND_WITHIN_MS,
  type Standing,
  type UnconfirmedDetails,
  type UnconfirmedReason,
} from './operation.ts';
import type { NewOperation } from './ports.ts';

/** States as they are stored: the first release called an unconfirmed operation `in_doubt`. */
export type StoredState = OperationRow['state'];

/** Refused without proof: what was ordered may still appear. */
export const LOOKED_FOR = ['not_done', 'decided_not_done'] as const;

/** The state as it is stored. */
export function toStoredState(state: OperationState): StoredState {
  return state === 'unconfirmed' ? 'in_doubt' : state;
}

/** Makes the row of a confirmation. It is due at once; the process that takes the confirmation takes its lease. */
export function toRow(operation: NewOperation, keyGeneration: number, account: string): OperationRow {
  const { purchase } = operation;
  return {
    id: operation.id,
    workspace_id: operation.workspaceId,
    actor_id: operation.actorId,
    channel_id: operation.channelId ?? null,
    kind: purchase.kind,
    purchase: JSON.stringify(purchase),
    claim: claimOf(purchase),
    state: 'prepared',
    price: operation.price ?? null,
    known_ids: '[]',
    server_id: purchase.kind === 'renew' ? purchase.serverId : null,
    paid_until: null,
    reason: null,
    reason_details: null,
    has_password: 0,
    needs_person: 0,
    created_at: operation.at,
    sent_at: null,
    ended_at: null,
    told_at: 0,
    due_at: operation.at,
    lease_owner: '',
    lease_until: 0,
    sent_by: '',
    attempt: 0,
    key_generation: keyGeneration,
    send_by: operation.at + SEND_WITHIN_MS,
    account,
    looked_ms: 0,
    is_late: 0,
    decided_by: null,
    sealed_answer: null,
  };
}

/** Reads a row of the ledger. @throws Refusal `newer_version` when only a newer version of the app can read it */
export function toOperation(row: OperationRow): Operation {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    purchase: parsePurchase(row.purchase),
    knownIds: parseIds(row.known_ids),
    hasPassword: row.has_password === 1,
    needsDecision: row.needs_person === 1,
    isLate: row.is_late === 1,
    keyGeneration: row.key_generation,
    lookedMs: row.looked_ms,
    createdAt: row.created_at,
    sendBy: row.send_by,
    ...keepPresent({
      channelId: row.channel_id,
      account: row.account === '' ? null : row.account,
      decidedBy: row.decided_by,
      price: row.price === null ? null : money(row.price),
      serverId: row.server_id,
      paidUntil: row.paid_until,
      sentAt: row.sent_at,
      endedAt: row.ended_at,
      notifiedAt: row.told_at === 0 ? null : row.told_at,
    }),
    ...parseStanding(row),
  };
}

/*
 * Strict: a field that a newer version has added may change what is bought, and an order must not be sent without it.
 */
const order = z.strictObject({
  plan: z.string(),
  location: z.string(),
  image: z.string(),
  label: z.string(),
});

/** What was confirmed, as it is stored. */
export const storedPurchase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), order, namesakeIds: z.array(z.number()).exactOptional() }),
  z.strictObject({
    kind: z.literal('renew'),
    serverId: z.number(),
    label: z.string(),
    paidUntil: z.number(),
  }),
]) satisfies z.ZodType<Purchase>;

const KINDS: Readonly<Record<Purchase['kind'], true>> = { create: true, renew: true };
/** Every kind that this version knows. */
export const PURCHASE_KINDS = Object.keys(KINDS) as readonly Purchase['kind'][];

const ids = z.array(z.number());

/** @throws Refusal `newer_version` when it is not what `toRow` has written: money must not depend on a guess */
export function parsePurchase(json: string): Purchase {
  return parseKnown(storedPurchase, JSON.parse(json));
}

/** @throws Refusal `newer_version` */
function parseIds(json: string): readonly ServerId[] {
  return parseKnown(ids, JSON.parse(json));
}

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
