import type { ChannelId, ConfirmationId, UserId, WorkspaceId } from './ids.ts';

/** A message of ours that is edited in place later. */
export interface Card {
  readonly channelId: ChannelId;
  readonly ts: string;
}

/**
 * The states of an approval: open → approved → (a delete) running → ended; or denied, withdrawn by its requester, expired, or
 * canceled, since what it was about has changed. An approved purchase goes on in the ledger.
 */
export const APPROVAL_STATES = [
  'open',
  'approved',
  'running',
  'ended',
  'denied',
  'withdrawn',
  'expired',
  'canceled',
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The states of an access request; `replaced`: the same user asked for the same role again. */
export const ACCESS_REQUEST_STATES = [
  'open',
  'approved',
  'denied',
  'withdrawn',
  'replaced',
  'expired',
] as const;
export type AccessRequestState = (typeof ACCESS_REQUEST_STATES)[number];

/** What may be found instead of an open decision; `unknown`: there is none with that ID. */
export type ClosedState = Exclude<ApprovalState | AccessRequestState, 'open'> | 'unknown';

/** What one user requested and another one decides: an approval, or an access request. */
export interface Decision {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly requesterId: UserId;
  /** Where it was requested. */
  readonly channelId?: ChannelId;
  readonly state: ApprovalState | AccessRequestState;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly decidedBy?: UserId;
  /** What the user who denied it wrote to the requester. */
  readonly denialReason?: string;
  /** When it stopped being open, for any reason. */
  readonly decidedAt?: number;
  /** Whether users were notified of this state: by cards while it is open, the requester after that. */
  readonly isNotified: boolean;
  /** The messages that ask for it. */
  readonly cards: readonly Card[];
}

/** What is known of a decision when it is requested. */
export type NewDecision<Kind extends Decision> = Omit<
  Kind,
  'state' | 'isNotified' | 'cards' | 'decidedBy' | 'decidedAt' | 'denialReason'
>;
