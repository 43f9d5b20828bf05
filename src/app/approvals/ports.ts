import type { Approval, ApprovalState } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Card } from '../../domain/decision.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Budget } from '../purchases/ports.ts';

/** What waits for a second person. Every change of state is one transaction with its audit entry. */
export interface Approvals {
  /** The same id again, or an open one about the same server's delete or month, is returned instead. */
  request(
    approval: Omit<Approval, 'state' | 'isNotified' | 'cards' | 'decidedBy' | 'decidedAt' | 'reason'>,
    audit: AuditEntry,
  ): Promise<{ readonly isNew: boolean; readonly approval: Approval }>;
  find(id: string): Promise<Approval | undefined>;
  storeCards(id: string, cards: readonly Card[]): Promise<void>;
  /** The state was told. When it has moved on since, the new one stays owed. */
  markNotified(id: string, state: ApprovalState): Promise<void>;
  /**
   * open → approved, unless it has expired; a purchase's operation is prepared in the same transaction (docs/design.md 4.1),
   * within the budget if one is given: over it, nothing is changed.
   * Undefined when it is not open any more. When the same month was confirmed meanwhile it is void in that very
   * transaction (`already_renewed`, audited as that), and `operation` is the other one.
   */
  approve(
    id: string,
    decision: { readonly by: string; readonly at: number; readonly budget?: Budget },
    audit: AuditEntry,
  ): Promise<{ readonly approval: Approval; readonly operation?: Operation } | 'over_budget' | undefined>;
  /** Moves it on from one of these states; false when it stands at another one. The new state is owed. */
  move(
    id: string,
    from: readonly ApprovalState[],
    to: {
      readonly state: ApprovalState;
      readonly at: number;
      readonly by?: string;
      readonly reason?: string;
    },
    audit?: AuditEntry,
  ): Promise<boolean>;
  /** Oldest first. */
  listOpen(workspaceId: string): Promise<readonly Approval[]>;
  /**
   * What nobody is at any more: open ones that have expired, deletes that have been approved or running since before
   * `since`, and those whose state came before `untold` and has not been told.
   */
  listUnfinished(when: {
    readonly now: number;
    readonly since: number;
    readonly untold: number;
  }): Promise<readonly Approval[]>;
}
