import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { type AuditFacts, defineUseCase, makeAuditEntry, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId, UserId } from '../core/ids.ts';
import { findRoles } from '../core/permission.ts';
import { coversRole, type HeldRoles } from '../core/roles.ts';
import type { Budget } from '../purchases/budget.ts';
import type { Operation } from '../purchases/operation.ts';
import { approvalKind } from './answer-approval.ts';
import {
  APPROVAL_MS,
  type Approval,
  type ApprovalAction,
  type ApprovalOutcome,
  type ApprovalState,
  type DecisionStore,
  getDecision,
  labelOfAction,
  type NewApproval,
  notifyDecision,
  refuseClosed,
  refuseOthersRequest,
} from './decision.ts';

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

export interface RequestedApproval {
  /** False when it, or the like, was requested before. */
  readonly isNew: boolean;
  readonly approval: Approval;
}

/** What has to be approved before it is done. */
interface WantedApproval {
  readonly id: ConfirmationId;
  readonly action: ApprovalAction;
  readonly isOverBudget: boolean;
}

/**
 * Requests a second user's approval instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (docs/design.md 4).
 * @throws Refusal `other_workspace`
 */
export async function requestApproval(
  wanted: WantedApproval,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<RequestedApproval> {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const requestedAt = app.system.now();
  const approval = {
    ...wanted,
    workspaceId,
    requesterId,
    requestedAt,
    expiresAt: requestedAt + APPROVAL_MS,
    channelId,
  };
  const audit = auditOfApproval(approval, app, { action: 'approval_ask', outcome: 'done' });
  const requested = await app.approvals.request(approval, audit);
  if (requested.approval.workspaceId !== workspaceId) throw new Refusal('other_workspace', {});
  return requested;
}

/**
 * The requester withdraws what waits for another manager's approval. If it is approved at the same moment, one of the two
 * takes effect.
 * Money effect: none; what is withdrawn is never paid.
 * @throws Refusal `request_over`, `not_requester`
 */
export const withdrawApproval = defineUseCase({
  name: 'approval_withdraw',
  needs: 'anyone',
  effect: 'confirms',
  run: async (input: { id: ConfirmationId }, { actor, app, setSubject }): Promise<Approval> => {
    const kind = approvalKind(app);
    const approval = await getDecision(kind, input.id, actor);
    const { id, action, state, expiresAt } = approval;
    setSubject({ operationId: id, label: labelOfAction(action) });
    refuseOthersRequest(approval, actor);
    const at = app.system.now();
    const withdrawn = { state: 'withdrawn', at, by: actor.userId } as const;
    const audit = auditOfApproval(approval, app, {
      action: 'approval_withdraw',
      outcome: 'done',
      surface: 'button',
    });
    const isOpen = state === 'open' && expiresAt > at;
    const isMine = isOpen && (await app.approvals.move(id, ['open'], withdrawn, audit));
    return isMine ? getDecision(kind, id, actor) : refuseClosed(kind, id);
  },
  follow: (approval, { app }) => notifyApproval(approval.id, app),
});

/** The pending approvals that the actor may decide, oldest first: other users', for servers that their role covers. */
export async function listDecidable(
  roles: HeldRoles,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<readonly Approval[]> {
  const open = await app.approvals.listOpen(actor.workspaceId);
  const now = app.system.now();
  return open.filter(
    ({ requesterId, expiresAt, action }) =>
      requesterId !== actor.userId && expiresAt > now && coversRole(roles, 'manager', labelOfAction(action)),
  );
}

/** Reads the pending approvals that the actor may decide. */
export const readDecidable = defineUseCase({
  name: 'approvals',
  needs: 'manager',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<readonly Approval[]> =>
    listDecidable(await findRoles(context.actor, context.app), context),
});

/** Notifies users of an approval's state, as `notifyDecision` says. */
export async function notifyApproval(id: ConfirmationId, app: AppContext): Promise<void> {
  await notifyDecision(approvalKind(app), id);
}

/** The audit entry for a change of an approval; by its requester unless `facts` names another actor. */
export function auditOfApproval(
  { id, workspaceId, requesterId, channelId, action }: NewApproval,
  app: AppContext,
  facts: Pick<AuditFacts, 'action' | 'outcome'> & Partial<AuditFacts>,
): AuditEntry {
  return makeAuditEntry(app, {
    workspaceId,
    actorId: requesterId,
    channelId,
    surface: 'modal',
    operationId: id,
    label: labelOfAction(action),
    serverId: idOfServer(action),
    money: action.kind === 'purchase' ? action.price : undefined,
    ...facts,
  });
}

function idOfServer(action: ApprovalAction): ServerId | undefined {
  if (action.kind === 'delete') return action.serverId;
  return action.purchase.kind === 'renew' ? action.purchase.serverId : undefined;
}
