import type { NewOperation } from '../../app/purchases/ports.ts';
import { money } from '../../domain/money.ts';
import { claimOf, type Operation, type OperationState, SEND_WITHIN_MS } from '../../domain/operation.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { OperationRow } from '../engine/tables.ts';
import { parseIds, parsePurchase } from './parse-purchase.ts';
import { parseStanding } from './parse-reason.ts';

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
