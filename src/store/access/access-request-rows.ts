import type { NewAccessRequest } from '../../app/access/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { Card } from '../../domain/decision.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { AccessRequestRow } from '../engine/tables.ts';

/** Makes the row of a request that was just made. */
export function toAccessRequestRow(request: NewAccessRequest): AccessRequestRow {
  return {
    id: request.id,
    workspace_id: request.workspaceId,
    asker_id: request.requesterId,
    channel_id: request.channelId ?? null,
    role: request.role,
    pattern: request.pattern,
    pattern_key: request.pattern.toLowerCase(),
    reason: request.reason,
    asked_at: request.requestedAt,
    expires_at: request.expiresAt,
    state: 'open',
    decided_by: null,
    decided_at: null,
    until: null,
    is_told: 0,
    cards: '[]',
  };
}

/** Reads a row of the requests. */
export function toAccessRequest(row: AccessRequestRow): AccessRequest {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    requesterId: row.asker_id,
    role: row.role,
    pattern: row.pattern,
    reason: row.reason,
    requestedAt: row.asked_at,
    expiresAt: row.expires_at,
    state: row.state,
    isNotified: row.is_told === 1,
    cards: JSON.parse(row.cards) as Card[],
    ...keepPresent({
      channelId: row.channel_id,
      decidedBy: row.decided_by,
      decidedAt: row.decided_at,
      until: row.until,
    }),
  };
}
