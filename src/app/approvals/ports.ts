import type { Approval, ApprovalOutcome, NewApproval } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Budget } from '../../domain/budget.ts';
import type { ApprovalState } from '../../domain/decision.ts';
import type { ConfirmationId, UserId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { DecisionStore } from '../decisions/ports.ts';

/** What has to be approved by a second user. */
export interface Approvals extends DecisionStore<Approval> {
  /** The same id again, or an open one about the same server's delete or month, is returned instead. */
  request(
    approval: NewApproval,
    audit: AuditEntry,
  ): Promise<{ readonly isNew: boolean; readonly approval: Approval }>;
  /**
   * open → approved, unless it has expired; a purchase's operation is prepared in the same transaction (docs/design.md 4.1),
   * within the budget if one is given: over it, nothing is changed.
   * Undefined when it is not open any more. When the same month was confirmed in the meantime, it is canceled in the same
   * transaction (`already_renewed`, audited as that), and `operation` is the other one.
   */
  approve(
    id: ConfirmationId,
    decision: { readonly by: UserId; readonly at: number; readonly budget?: Budget | undefined },
    audit: AuditEntry,
  ): Promise<{ readonly approval: Approval; readonly operation?: Operation } | 'over_budget' | undefined>;
  /** Changes its state if it is in one of these; false if it is not. Marks users as not yet notified. */
  move(
    id: ConfirmationId,
    from: readonly ApprovalState[],
    to: ApprovalOutcome & {
      readonly at: number;
      readonly by?: UserId | undefined;
      readonly denialReason?: string | undefined;
    },
    ...audits: readonly AuditEntry[]
  ): Promise<boolean>;
  /** Deletes that were approved or begun before that moment and have not ended, oldest first. */
  listUnfinishedDeletes(before: number): Promise<readonly Approval[]>;
}
