import type { NewOperation } from '../../app/purchases/ports.ts';
import { money } from '../../domain/money.ts';
import { claimOf, type Operation, type Purchase } from '../../domain/operation.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { OperationRow } from '../engine/tables.ts';

/** Makes the row of a confirmation. It is due at once; whoever confirmed it takes its lease. */
export function toRow(operation: NewOperation): OperationRow {
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
  };
}

/** Reads a row of the ledger. Its JSON was written by `toRow` and by the ledger's transitions. */
export function toOperation(row: OperationRow): Operation {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    purchase: JSON.parse(row.purchase) as Purchase,
    state: row.state,
    knownIds: JSON.parse(row.known_ids) as number[],
    hasPassword: row.has_password === 1,
    needsDecision: row.needs_person === 1,
    createdAt: row.created_at,
    ...keepPresent({
      channelId: row.channel_id,
      price: row.price === null ? null : money(row.price),
      serverId: row.server_id,
      paidUntil: row.paid_until,
      reason: row.reason,
      reasonDetails: parseDetails(row.reason_details),
      sentAt: row.sent_at,
      endedAt: row.ended_at,
      notifiedAt: row.told_at === 0 ? null : row.told_at,
    }),
  };
}

function parseDetails(text: string | null): Record<string, string | number> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, string | number>);
}
