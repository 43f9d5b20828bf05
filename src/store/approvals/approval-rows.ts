import type { Approvals } from '../../app/approvals/ports.ts';
import type { Approval, ApprovalAction } from '../../domain/approval.ts';
import type { Card } from '../../domain/decision.ts';
import { claimOf } from '../../domain/operation.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { ApprovalRow } from '../engine/tables.ts';

/** Makes the row of an approval that was just asked for. */
export function toApprovalRow(approval: Parameters<Approvals['request']>[0]): ApprovalRow {
  return {
    id: approval.id,
    workspace_id: approval.workspaceId,
    requester_id: approval.requesterId,
    channel_id: approval.channelId ?? null,
    kind: approval.action.kind,
    deed: JSON.stringify(approval.action),
    claim: claimOfDeed(approval.action),
    is_over_budget: approval.isOverBudget ? 1 : 0,
    state: 'open',
    asked_at: approval.requestedAt,
    expires_at: approval.expiresAt,
    changed_at: approval.requestedAt,
    decided_by: null,
    decided_at: null,
    reason: null,
    is_told: 0,
    cards: '[]',
  };
}

/** Reads a row of the approvals. Its JSON was written by `toApprovalRow` and `keepCards`. */
export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    requesterId: row.requester_id,
    action: JSON.parse(row.deed) as ApprovalAction,
    isOverBudget: row.is_over_budget === 1,
    state: row.state,
    requestedAt: row.asked_at,
    expiresAt: row.expires_at,
    isNotified: row.is_told === 1,
    cards: JSON.parse(row.cards) as Card[],
    ...keepPresent({
      channelId: row.channel_id,
      decidedBy: row.decided_by,
      decidedAt: row.decided_at,
      reason: row.reason,
    }),
  };
}

/** What two open approvals must not both be about; empty for a create. */
function claimOfDeed(deed: ApprovalAction): string {
  return deed.kind === 'delete' ? `delete:${deed.serverId}` : claimOf(deed.purchase);
}
