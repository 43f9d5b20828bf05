import { z } from 'zod';
import { money } from '../core/money.ts';
import { keepPresent } from '../db/engine.ts';
import type { OperationRow } from '../db/tables.ts';
import type { DeleteOperation, DeleteReason, Deletion } from '../servers/deletion.ts';
import {
  type ConfirmedOperation,
  claimOf,
  type Operation,
  type OperationRefusal,
  type Purchase,
  SEND_WITHIN_MS,
  type Standing,
  type UnconfirmedReason,
} from './operation.ts';
import type { NewOperation } from './ports.ts';

/** Refused without proof: what was ordered may still appear. */
export const LOOKED_FOR = ['decided_not_done'] as const;

/** Makes the row of a confirmation. */
export function toRow(
  operation: Omit<NewOperation, 'purchase'> & { readonly purchase: Purchase | Deletion },
  account: string,
): OperationRow {
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
    server_id: purchase.kind === 'create' ? null : purchase.serverId,
    paid_until: null,
    reason: null,
    reason_details: null,
    has_password: 0,
    needs_person: 0,
    created_at: operation.at,
    sent_at: null,
    ended_at: null,
    told_at: 0,
    sent_by: '',
    attempt: 0,
    send_by: operation.at + SEND_WITHIN_MS,
    account,
    looked_ms: 0,
    is_late: 0,
    decided_by: null,
    sealed_answer: null,
  };
}

/** Reads the row of a purchase. @throws ZodError if what was bought isn't what `toRow` wrote: money must not depend on a guess */
export function toOperation(row: OperationRow): Operation {
  return { ...readColumns(row), purchase: parsePurchase(row.purchase), ...readStanding(row) };
}

/** Reads the row of a delete. @throws ZodError if what was confirmed isn't what `toRow` wrote */
export function toDelete(row: OperationRow): DeleteOperation {
  const deletion = storedDeletion.parse(JSON.parse(row.purchase));
  return { ...readColumns(row), deletion, ...readStanding(row) } as DeleteOperation;
}

function readColumns(row: OperationRow): Omit<ConfirmedOperation, 'purchase'> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    knownIds: ids.parse(JSON.parse(row.known_ids)),
    hasPassword: row.has_password === 1,
    needsDecision: row.needs_person === 1,
    isLate: row.is_late === 1,
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
  };
}

/** Strict: what is bought is all that was confirmed. */
const order = z.strictObject({
  plan: z.string(),
  location: z.string(),
  image: z.string(),
  label: z.string(),
});

/** What was ordered, as it is stored. */
export const storedPurchase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), order, namesakeIds: z.array(z.number()).exactOptional() }),
  z.strictObject({
    kind: z.literal('renew'),
    serverId: z.number(),
    label: z.string(),
    paidUntil: z.number(),
  }),
]) satisfies z.ZodType<Purchase>;

const storedDeletion = z.strictObject({
  kind: z.literal('delete'),
  serverId: z.number(),
  label: z.string(),
  paidUntil: z.number().exactOptional(),
}) satisfies z.ZodType<Deletion>;

/** Reads what was confirmed, whatever it was. @throws ZodError */
export function parseConfirmed(json: string): Purchase | Deletion {
  return z.union([storedPurchase, storedDeletion]).parse(JSON.parse(json));
}

/** @throws ZodError */
export function parsePurchase(json: string): Purchase {
  return storedPurchase.parse(JSON.parse(json));
}

const ids = z.array(z.number());

/** The columns that hold a reason. */
export function toReasonColumns({ code, details }: OperationRefusal | UnconfirmedReason | DeleteReason) {
  return { reason: code, reason_details: JSON.stringify(details) };
}

/** The state of a row, and the reason for it. */
export function readStanding(row: Pick<OperationRow, 'state' | 'reason' | 'reason_details'>): Standing {
  const { state, reason: code, reason_details } = row;
  const reason = { code, details: JSON.parse(reason_details ?? '{}') };
  return { state, ...((state === 'refused' || state === 'unconfirmed') && { reason }) } as Standing;
}
