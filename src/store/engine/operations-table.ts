import type { Purchase } from '../../domain/operation.ts';

/** One confirmation by one user, and its outcome. */
export interface OperationsTable {
  id: string;
  workspace_id: string;
  actor_id: string;
  channel_id: string | null;
  kind: Purchase['kind'];
  /** JSON. */
  purchase: string;
  /** '' when it claims nothing, or has released its claim. */
  claim: string;
  /** `in_doubt`, from the first release, is `unconfirmed` everywhere else. */
  state: 'prepared' | 'sent' | 'settled' | 'refused' | 'in_doubt';
  price: number | null;
  /** JSON. */
  known_ids: string;
  server_id: number | null;
  paid_until: number | null;
  reason: string | null;
  /** JSON. */
  reason_details: string | null;
  has_password: number;
  needs_person: number;
  created_at: number;
  sent_at: number | null;
  ended_at: number | null;
  /** 0 while the actor has not been notified of this state. */
  told_at: number;
  /** NULL when nothing is due: it has ended, or needs a decision, and the actor was notified. */
  due_at: number | null;
  /** '' when it is not held. */
  lease_owner: string;
  lease_until: number;
  /** The lease owner that sent its request; '' before that. */
  sent_by: string;
  /** How often it was marked as sent. */
  attempt: number;
  key_generation: number;
  /** After this it may not be marked as sent any more; 0 in rows of older versions. */
  send_by: number;
  /** The name of the workspace's key; once it was sent, of the one that it was sent with. '' in rows of older versions. */
  account: string;
  looked_ms: number;
  is_late: number;
  decided_by: string | null;
  /** An answer without a recognized password, sealed, until its server is found. */
  sealed_answer: string | null;
}
