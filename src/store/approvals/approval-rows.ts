import { z } from 'zod';
import type { Approval, ApprovalAction, NewApproval } from '../../domain/approval.ts';
import { money } from '../../domain/money.ts';
import { claimOf } from '../../domain/operation.ts';
import { fromDecisionColumns, toDecisionColumns } from '../decisions/decision-rows.ts';
import type { ApprovalRow } from '../engine/decision-tables.ts';
import { parseKnown } from '../newer-version.ts';
import { storedPurchase } from '../purchases/parse-purchase.ts';
import { readOutcome } from './approval-outcomes.ts';

/** Strict, as purchases are: what is approved is all that was confirmed. */
const action = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('purchase'),
    purchase: storedPurchase,
    price: z.number().transform(money).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('delete'),
    serverId: z.number(),
    label: z.string(),
    paidUntil: z.number().exactOptional(),
  }),
]);

/** Makes the row of an approval that was just requested. */
export function toApprovalRow(approval: NewApproval, keyGeneration: number): ApprovalRow {
  return {
    ...toDecisionColumns(approval),
    requester_id: approval.requesterId,
    kind: approval.action.kind,
    deed: JSON.stringify(approval.action),
    claim: claimOfAction(approval.action),
    is_over_budget: approval.isOverBudget ? 1 : 0,
    changed_at: approval.requestedAt,
    reason: null,
    reason_details: null,
    key_generation: keyGeneration,
  };
}

/** A row of the approvals, whose state is not checked yet. */
type StoredApproval = Omit<ApprovalRow, 'state'> & { readonly state: string };

/** Reads a row of the approvals. @throws Refusal `newer_version` when only a newer version of the app can read it */
export function toApproval(row: StoredApproval): Approval {
  return {
    ...fromDecisionColumns(row),
    ...readOutcome(row),
    requesterId: row.requester_id,
    action: parseKnown(action, JSON.parse(row.deed)),
    isOverBudget: row.is_over_budget === 1,
    keyGeneration: row.key_generation,
  };
}

/** What two open approvals must not both be about; empty for a create. */
function claimOfAction(wanted: ApprovalAction): string {
  return wanted.kind === 'delete' ? `delete:${wanted.serverId}` : claimOf(wanted.purchase);
}
