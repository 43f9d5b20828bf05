import type { ApprovalState, Decision, NewDecision } from './decision.ts';
import type { HostingFailureDetails, NoDetails } from './errors.ts';
import type { ServerId } from './ids.ts';
import type { Money } from './money.ts';
import type { Purchase } from './operation.ts';
import { labelOf } from './operation.ts';
import type { Reason } from './reason.ts';
import { HOUR_MS } from './time.ts';

/** What a second user is asked to approve, frozen as the first one confirmed it. */
export type ApprovalAction =
  | { readonly kind: 'purchase'; readonly purchase: Purchase; readonly price?: Money }
  | {
      readonly kind: 'delete';
      readonly serverId: ServerId;
      readonly label: string;
      /** What of it is lost; absent where the API does not say. */
      readonly paidUntil?: number;
    };

/** Why an approval can be canceled. `unreadable`: what is stored was written by another version. */
export interface CancelDetails {
  role_needed: NoDetails;
  account_changed: NoDetails;
  unknown_server: NoDetails;
  label_differs: NoDetails;
  already_renewed: NoDetails;
  unknown_choice: NoDetails;
  price_moved: NoDetails;
  over_budget: NoDetails;
  stale_confirmation: NoDetails;
  unreadable: NoDetails;
}
export type CancelReason = Reason<CancelDetails>;

/**
 * How an approved delete can end: done, refused, unknown (`no_answer`, and `lost_account` where another account was
 * connected before anyone could look), or stopped by a defect. An answer that can't be read is looked into like one that
 * did not come. `unreadable` as above.
 */
export interface DeleteEndDetails extends Omit<HostingFailureDetails, 'unreadable_answer' | 'unknown_code'> {
  done: NoDetails;
  lost_account: NoDetails;
  defect: NoDetails;
  unreadable: NoDetails;
}
export type DeleteEnd = Reason<DeleteEndDetails>;

/** Where an approval stands, and why. */
export type ApprovalOutcome =
  | { readonly state: Exclude<ApprovalState, 'void' | 'ended'> }
  | { readonly state: 'void'; readonly reason: CancelReason }
  | { readonly state: 'ended'; readonly reason: DeleteEnd };

interface ApprovalRequest extends Decision {
  /** What is to be done. The id of a purchase is the one that its operation gets. */
  readonly action: ApprovalAction;
  /** Whether it is requested because a budget is used up, and not (only) because the rule asks for it. */
  readonly isOverBudget: boolean;
}

/** Something that one user confirmed and another one has to approve (two-person rule). */
export type Approval = Omit<ApprovalRequest, 'state'> & ApprovalOutcome;

export type NewApproval = NewDecision<ApprovalRequest>;

/** How long an approval stays open. */
export const APPROVAL_MS = HOUR_MS;

export function labelOfAction(action: ApprovalAction): string {
  return action.kind === 'delete' ? action.label : labelOf(action.purchase);
}
