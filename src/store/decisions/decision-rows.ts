import { z } from 'zod';
import type { Decision, NewDecision } from '../../domain/decision.ts';
import { keepPresent } from '../engine/omit-null.ts';

const cards = z.array(z.object({ channelId: z.string(), ts: z.string() }));

/** The columns that all decision tables share. */
interface DecisionColumns {
  readonly id: string;
  readonly workspace_id: string;
  readonly channel_id: string | null;
  readonly asked_at: number;
  readonly expires_at: number;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
  readonly denial_reason: string | null;
  readonly is_told: number;
  /** JSON. */
  readonly cards: string;
}

/** Makes these columns for a new decision. */
export function toDecisionColumns(decision: NewDecision<Decision>) {
  return {
    id: decision.id,
    workspace_id: decision.workspaceId,
    channel_id: decision.channelId ?? null,
    asked_at: decision.requestedAt,
    expires_at: decision.expiresAt,
    state: 'open',
    decided_by: null,
    decided_at: null,
    denial_reason: null,
    is_told: 0,
    cards: '[]',
  } as const;
}

/** Reads these columns. */
export function fromDecisionColumns(row: DecisionColumns): Omit<Decision, 'state' | 'requesterId'> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    requestedAt: row.asked_at,
    expiresAt: row.expires_at,
    isNotified: row.is_told === 1,
    cards: cards.parse(JSON.parse(row.cards)),
    ...keepPresent({
      channelId: row.channel_id,
      decidedBy: row.decided_by,
      decidedAt: row.decided_at,
      denialReason: row.denial_reason,
    }),
  };
}
