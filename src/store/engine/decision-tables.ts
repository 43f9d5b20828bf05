import type { Generated, Selectable } from 'kysely';
import type { Role } from '../../domain/actor.ts';
import type { ApprovalAction } from '../../domain/approval.ts';
import type { AccessRequestState, ApprovalState } from '../../domain/decision.ts';

export interface AccessRequestsTable {
  id: string;
  workspace_id: string;
  asker_id: string;
  channel_id: string | null;
  role: Role;
  pattern: string;
  pattern_key: string;
  reason: string;
  asked_at: number;
  expires_at: number;
  state: AccessRequestState;
  decided_by: string | null;
  /** When it stopped being open, for any reason. */
  decided_at: number | null;
  /** NULL if nothing was granted, or if the grant is permanent. */
  until: number | null;
  /** NULL if nothing was granted. */
  granted_role: Role | null;
  granted_pattern: string | null;
  denial_reason: string | null;
  /** What the requester typed before; NULL if they requested the role otherwise. */
  command: string | null;
  is_told: number;
  /** JSON. */
  cards: string;
}

export interface ApprovalsTable {
  id: string;
  workspace_id: string;
  requester_id: string;
  channel_id: string | null;
  kind: ApprovalAction['kind'];
  /** JSON. */
  deed: string;
  /** '' if it claims nothing or is no longer open. */
  claim: string;
  is_over_budget: number;
  state: ApprovalState;
  asked_at: number;
  expires_at: number;
  /** When its state was last changed. */
  changed_at: number;
  decided_by: string | null;
  /** When it stopped being open, for any reason. */
  decided_at: number | null;
  reason: string | null;
  /** JSON. */
  reason_details: string | null;
  denial_reason: string | null;
  is_told: number;
  /** JSON. */
  cards: string;
  key_generation: Generated<number>;
}

export type AccessRequestRow = Selectable<AccessRequestsTable>;
export type ApprovalRow = Selectable<ApprovalsTable>;
