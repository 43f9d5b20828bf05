import type { Card } from './decision.ts';
import type { Money } from './money.ts';
import type { Purchase } from './operation.ts';
import { labelOf } from './operation.ts';
import { HOUR_MS } from './time.ts';

/** What a second person is asked to approve, frozen as the first one confirmed it. */
export type ApprovalAction =
  | { readonly kind: 'purchase'; readonly purchase: Purchase; readonly price?: Money }
  | {
      readonly kind: 'delete';
      readonly serverId: number;
      readonly label: string;
      /** What of it is lost; absent where the API does not say. */
      readonly paidUntil?: number;
    };

/**
 * Where it stands: open → approved → (a purchase goes on in the ledger) running → ended;
 * or denied, expired, or void: what it was about has changed.
 */
export type ApprovalState = 'open' | 'approved' | 'running' | 'ended' | 'denied' | 'expired' | 'void';

/** Something that one person confirmed and another one has to approve (two-person rule). */
export interface Approval {
  /** Of a purchase: the id that its operation gets. */
  readonly id: string;
  readonly workspaceId: string;
  readonly requesterId: string;
  /** Where it was confirmed. */
  readonly channelId?: string;
  readonly action: ApprovalAction;
  /** Whether it is asked because a budget is used up, and not (only) because the rule asks for it. */
  readonly isOverBudget: boolean;
  readonly state: ApprovalState;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly decidedBy?: string;
  readonly decidedAt?: number;
  /** Why it is void or how it ended: a code of `errors.ts`, or `done`. */
  readonly reason?: string;
  /** Whether this state has been told: in the cards while it is open, to the requester after that. */
  readonly isNotified: boolean;
  /** The messages that ask for it. */
  readonly cards: readonly Card[];
}

/** How long an approval is waited for. */
export const APPROVAL_MS = HOUR_MS;

export function labelOfAction(action: ApprovalAction): string {
  return action.kind === 'delete' ? action.label : labelOf(action.purchase);
}
