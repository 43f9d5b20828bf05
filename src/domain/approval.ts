import type { ApprovalState, Decision, NewDecision } from './decision.ts';
import type { HostingFailureDetails, NoDetails } from './errors.ts';
import type { ServerId } from './ids.ts';
import type { Money } from './money.ts';
import type { Purchase } from './operation.ts';
import { labelOf } from './operation.ts';
import type { Reason } from './reason.ts';
import { HOUR_MS } from './time.ts';

/** What a second user has to approve, exactly as the first one confirmed it. */
export type ApprovalAction =
  | { readonly kind: 'purchase'; readonly purchase: Purchase; readonly price?: Money }
  | {
      readonly kind: 'delete';
      readonly serverId: ServerId;
      readonly label: string;
      /** The end of the paid time that would be lost; absent if the API does not say. */
      readonly paidUntil?: number;
    };

/** Why an approval was canceled. `unreadable`: another version of the app wrote the reason. */
export interface CancelDetails {
  role_needed: NoDetails;
  account_changed: NoDetails;
  unknown_server: NoDetails;
  label_differs: NoDetails;
  server_protected: NoDetails;
  already_renewed: NoDetails;
  unknown_choice: NoDetails;
  price_moved: NoDetails;
  over_budget: NoDetails;
  stale_confirmation: NoDetails;
  /** The database was restored from a backup: it may have been answered since. */
  restored: NoDetails;
  unreadable: NoDetails;
}
export type CancelReason = Reason<CancelDetails>;

/**
 * How an approved delete ended: done, refused, unknown (`no_answer`, or `lost_account` if another account was connected
 * before the outcome could be checked), or stopped by a defect. An unreadable answer is treated like a missing one.
 * `unreadable` as above.
 */
export interface DeleteEndDetails extends Omit<HostingFailureDetails, 'unreadable_answer' | 'unknown_code'> {
  done: NoDetails;
  /** An owner has protected the server since. */
  server_protected: NoDetails;
  lost_account: NoDetails;
  defect: NoDetails;
  unreadable: NoDetails;
}
export type DeleteEnd = Reason<DeleteEndDetails>;

/** The state of an approval, and the reason for it. */
export type ApprovalOutcome =
  | { readonly state: Exclude<ApprovalState, 'canceled' | 'ended'> }
  | { readonly state: 'canceled'; readonly reason: CancelReason }
  | { readonly state: 'ended'; readonly reason: DeleteEnd };

interface ApprovalRequest extends Decision {
  /** What will be done. Its operation gets the same ID as the approval. */
  readonly action: ApprovalAction;
  /** Whether approval is needed because a budget is used up, not (only) because of the two-person rule. */
  readonly isOverBudget: boolean;
  /** Which API key the workspace had when it was requested: the count of its changes. */
  readonly keyGeneration: number;
}

/** Something that one user confirmed and another one has to approve (two-person rule). */
export type Approval = Omit<ApprovalRequest, 'state'> & ApprovalOutcome;

/** The store counts the keys. */
export type NewApproval = Omit<NewDecision<ApprovalRequest>, 'keyGeneration'>;

/** How long an approval stays open. */
export const APPROVAL_MS = HOUR_MS;

export function labelOfAction(action: ApprovalAction): string {
  return action.kind === 'delete' ? action.label : labelOf(action.purchase);
}
