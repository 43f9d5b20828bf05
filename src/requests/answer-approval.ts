import { getHostingOf } from '../account/keys.ts';
import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { findPlan, type Order } from '../core/catalog.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { describeDefect, findHostingFailure, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { isFrozenLabel, isIdenticalLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import { hasRole, listApprovers } from '../core/permission.ts';
import { type Actor, THE_APP } from '../core/roles.ts';
import { isDeleted } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { findBudget } from '../purchases/budget.ts';
import { findRenewPrice, findWrongChoices } from '../purchases/review.ts';
import { fetchAllServers } from '../purchases/send.ts';
import { startFollowing } from '../servers/follow.ts';
import { auditOfApproval, notifyApproval } from './approval.ts';
import { carryOutApproval, endDelete, lockOfDelete, lookForDeleted, runDelete } from './carry-out.ts';
import {
  type Approval,
  type ApprovalAction,
  type CancelReason,
  type DecisionKind,
  getDecision,
  labelOfAction,
  refuseClosed,
  refuseOwnRequest,
  sweepDecisions,
} from './decision.ts';

type Context = UseCaseContext;

export type ApprovalAnswer =
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

/** Finds an open request, for the form in which it is denied with a reason. @throws Refusal `request_over`, `own_request`, `role_needed` */
export const readApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, context): Promise<Approval> => {
    const kind = approvalKind(context.app);
    const approval = await getDecision(kind, id, context.actor);
    refuseOwnRequest(approval, context.actor);
    await context.requireRoleFor(labelOfAction(approval.action));
    return approval.state === 'open' ? approval : refuseClosed(kind, id);
  },
});

/**
 * A second user approves or denies what another one confirmed (two-person rule). What was confirmed is frozen: if
 * its price, its server, the budget, the account or the requester's role has changed since, it is canceled and nothing is
 * done; while it can't be checked whether something has, or purchases are frozen, it stays open.
 * Money effect: none yet; an approved purchase is prepared in the ledger, and `carryOutApproval` sends it.
 * @throws Refusal `request_over`, `own_request`, `role_needed`, `not_approved`, `purchases_frozen`; `approval_unsaved` when the
 * store fails
 */
export const answerApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: { id: ConfirmationId; answer: ApprovalAnswer }, context): Promise<Approval> => {
    const { actor, app, setSubject } = context;
    const kind = approvalKind(app);
    const approval = await getDecision(kind, input.id, actor);
    const { id, action, state, expiresAt } = approval;
    setSubject({ operationId: id, label: labelOfAction(action) });
    refuseOwnRequest(approval, actor);
    await context.requireRoleFor(labelOfAction(action));
    const isOpen = state === 'open' && expiresAt > app.system.now();
    const decide = () =>
      input.answer.kind === 'approve'
        ? approve(approval, context)
        : deny(approval, input.answer.reason, context);
    const isMine = isOpen && (await decide());
    if (!isMine) return refuseClosed(kind, id);
    const decided = getDecision(kind, id, actor);
    return input.answer.kind === 'approve'
      ? decided.catch((error: unknown) => refuseUnsaved(error, approval, app))
      : decided;
  },
  follow: async (approval, { app }) => {
    await notifyApproval(approval.id, app);
    if (approval.state === 'approved') await carryOutApproval(approval, app);
  },
});

function deny(
  approval: Approval,
  denialReason: string | undefined,
  { actor, app }: Context,
): Promise<boolean> {
  const denied = { state: 'denied', at: app.system.now(), by: actor.userId, denialReason } as const;
  const audit = auditOf(approval, 'denied', actor, app);
  // The label of the first entry is the server's, so that it is found by that: the reason gets its own, of the same act.
  const reason = denialReason && { ...audit, action: 'denial_reason' as const, label: denialReason };
  return app.approvals.move(approval.id, ['open'], denied, audit, ...(reason ? [reason] : []));
}

/** True if this approval or cancellation took effect; false if another one was faster. */
async function approve(approval: Approval, context: Context): Promise<boolean> {
  const { actor, app } = context;
  const at = app.system.now();
  if (approval.action.kind === 'purchase') await refuseFrozen(approval.workspaceId, app.workspaces);
  const reason = await findCancelReason(approval, app).catch(refuseUnchecked);
  if (reason) return cancel(approval, reason, context);
  // A request over budget is paid anyway: going over the budget is what was approved.
  const budget = approval.isOverBudget ? undefined : await findBudget({ actor: requesterOf(approval), app });
  const audit = auditOf(approval, 'approved', actor, app);
  const approved = await app.approvals
    .approve(approval.id, { by: actor.userId, at, budget }, audit)
    .catch((error: unknown) => refuseUnsaved(error, approval, app));
  if (approved === 'over_budget') return cancel(approval, { code: 'over_budget', details: {} }, context);
  return approved !== undefined;
}

/** Whether the approval was written is not known: what was approved may still be carried out. */
function refuseUnsaved(error: unknown, { id }: Approval, { log }: AppContext): never {
  if (isExpected(error)) throw error;
  log.error('an approval could not be saved', { approvalId: id, ...describeDefect(error) });
  throw new Refusal('approval_unsaved', {});
}

function refuseUnchecked(error: unknown): never {
  const failure = findHostingFailure(error);
  if (failure) throw new Refusal('not_approved', { reason: failure });
  if (isRefusal(error, 'identity_unknown'))
    throw new Refusal('not_approved', { reason: { code: 'identity_unknown', details: error.details } });
  throw error;
}

function cancel(approval: Approval, reason: CancelReason, { actor, app }: Context): Promise<boolean> {
  const to = { state: 'canceled', at: app.system.now(), by: actor.userId, reason } as const;
  const audit = auditOf(approval, reason.code, actor, app);
  return app.approvals.move(approval.id, [approval.state], to, audit);
}

function auditOf(
  approval: Approval,
  code: 'approved' | 'denied' | CancelReason['code'],
  { userId }: Context['actor'],
  app: AppContext,
): AuditEntry {
  return auditOfApproval(approval, app, {
    action: 'approval_answer',
    outcome: code === 'approved' || code === 'denied' ? 'done' : 'failed',
    actorId: userId,
    surface: 'button',
    code,
  });
}

/** Approvals: decided by another manager, who is asked in the channel of the settings or directly. */
export function approvalKind(app: AppContext): DecisionKind<Approval> {
  return {
    name: 'approval',
    app,
    store: app.approvals,
    notifier: app.approvalNotifier,
    findDeciders: async ({ workspaceId, requesterId, action }) => {
      const label = labelOfAction(action);
      const userIds = await listApprovers({ workspaceId, requesterId, label }, app);
      const workspace = await app.workspaces.find(workspaceId);
      return { channelId: workspace?.settings.channelId, userIds };
    },
    auditOfExpiry: (approval) =>
      auditOfApproval(approval, app, {
        action: 'approval_answer',
        outcome: 'failed',
        actorId: THE_APP,
        surface: 'background',
        code: 'expired',
      }),
    notifiesRequesterWhenUnreached: true,
    confirmsToRequester: true,
    knownStates: [],
    afterOutcome: (approval) => followApproved(approval, app),
  };
}

/**
 * Follows the server of an approved delete until a complete list no longer has it, where the delete is proven. The channel
 * has been told by then: its message is known under the approval's ID. Sends nothing. Never throws.
 */
async function followApproved(approval: Approval, app: AppContext): Promise<void> {
  const { id, workspaceId, requesterId: actorId, channelId, keyGeneration, action } = approval;
  // A purchase is followed by its operation.
  if (action.kind !== 'delete' || approval.state !== 'ended' || approval.reason.code !== 'done') return;
  const { serverId, label } = action;
  const act = {
    id,
    workspaceId,
    action: 'delete',
    actorId,
    keyGeneration,
    channelId,
  } as const;
  await startFollowing(act, { serverId, label, standing: 'waiting', hasChanged: false }, app);
}

type CancelCode = CancelReason['code'];

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the account, the price or the server has
 * changed. Undefined when it still can.
 * @throws HostingError, Refusal `list_incomplete`, `no_api_key`, `key_unreadable`, `identity_unknown` when that can't be checked now
 */
async function findCancelReason(approval: Approval, app: AppContext): Promise<CancelReason | undefined> {
  const label = labelOfAction(approval.action);
  const isAllowed = await hasRole(requesterOf(approval), 'manager', label, app);
  const code = isAllowed ? await findChange(approval, app) : 'role_needed';
  return code && { code, details: {} };
}

/** Who requested it, and where. */
function requesterOf({
  workspaceId,
  requesterId,
  channelId,
}: Pick<Approval, 'workspaceId' | 'requesterId' | 'channelId'>): Actor {
  return { workspaceId, userId: requesterId, channelId };
}

async function findChange(approval: Approval, app: AppContext): Promise<CancelCode | undefined> {
  const { action } = approval;
  const hosting = await getHostingOf(approval, app).catch((error: unknown) => {
    if (isRefusal(error, 'account_changed')) return undefined;
    throw error;
  });
  if (!hosting) return 'account_changed';
  if (action.kind === 'delete') {
    const isProtected = await app.protections.find(approval.workspaceId, action.serverId);
    return isProtected ? 'server_protected' : findDeleteChange(action, hosting);
  }
  return findPurchaseChange(action, hosting, approval, app);
}

async function findDeleteChange(
  { serverId, label, paidUntil }: Extract<ApprovalAction, { kind: 'delete' }>,
  hosting: HostingApi,
): Promise<CancelCode | undefined> {
  const server = (await fetchAllServers(hosting, {})).find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) return 'unknown_server';
  if (!isIdenticalLabel(server.label, label)) return 'label_differs';
  // A month that was paid since would be lost without the requester having agreed to that.
  return server.paidUntil === paidUntil ? undefined : 'already_renewed';
}

async function findPurchaseChange(
  { purchase, price }: Extract<ApprovalAction, { kind: 'purchase' }>,
  hosting: HostingApi,
  approval: Approval,
  app: AppContext,
): Promise<CancelCode | undefined> {
  if (purchase.kind === 'create') return findCreateChange(purchase.order, price, hosting);
  const servers = await fetchAllServers(hosting, {});
  const server = servers.find(({ id }) => id === purchase.serverId);
  if (!server || isDeleted(server)) return 'unknown_server';
  if (!isFrozenLabel(server.label, purchase.label)) return 'label_differs';
  const context = { actor: requesterOf(approval), app, hosting: async () => hosting };
  const now = await findRenewPrice(server, context);
  if (now !== price) return now === undefined ? 'unknown_choice' : 'price_moved';
  return server.paidUntil === purchase.paidUntil ? undefined : 'already_renewed';
}

async function findCreateChange(
  order: Order,
  price: Money | undefined,
  hosting: HostingApi,
): Promise<CancelCode | undefined> {
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  if (findWrongChoices(order, catalog).length > 0) return 'unknown_choice';
  return findPlan(catalog, order.plan)?.monthly === price ? undefined : 'price_moved';
}

/** An approved delete that was left unsent is carried out within this time, and canceled after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** A crashed process never gets its answer, but what it sent may still be carried out for this long. */
const ORPHAN_MS = 2 * MINUTE_MS;

/** Expires approvals, and continues work that a crash or a Slack outage has interrupted (two-person rule). */
export async function sweepApprovals(app: AppContext, startedAt: number): Promise<void> {
  await sweepDecisions(approvalKind(app), startedAt, {
    list: (before) => app.approvals.listUnfinishedDeletes(before),
    resume: async ({ id }, now) => {
      // Held for as long as a living process sends it and waits for the answer.
      await app.locks.runIfFree(lockOfDelete(id), () => resume(id, now, startedAt, app));
    },
  });
}

/** The process that held the lock may have ended it since it was listed. */
async function resume(id: ConfirmationId, now: number, startedAt: number, app: AppContext): Promise<void> {
  const approval = await app.approvals.find(id);
  if (approval?.action.kind !== 'delete') return;
  const { action, state, decidedAt = now } = approval;
  if (state === 'approved') await carryOutLate(approval, action.serverId, now - decidedAt, app);
  else if (state === 'running')
    await conclude(approval, action.serverId, now - Math.max(decidedAt, startedAt) > ORPHAN_MS, app);
}

/** Approved but not started: everything is checked again, as at the approval. */
async function carryOutLate(
  approval: Approval,
  serverId: ServerId,
  passedMs: number,
  app: AppContext,
): Promise<void> {
  const isStale = passedMs > RESUME_MS;
  const reason: CancelReason | undefined = isStale
    ? { code: 'stale_confirmation', details: {} }
    : await findCancelReason(approval, app);
  if (reason) await cancelUnrecorded(approval, reason, app);
  else await runDelete(approval, serverId, app);
}

/** Started, and the answer was lost: the list of servers shows whether the server is gone. */
async function conclude(
  approval: Approval,
  serverId: ServerId,
  isOverdue: boolean,
  app: AppContext,
): Promise<void> {
  const { reason, isKnown } = await lookForDeleted(approval, serverId, app);
  if (isKnown || isOverdue) await endDelete(approval, reason, app);
  else app.log.debug('an approved delete has no answer yet', { confirmationId: approval.id });
}

/** Cancels it without doing anything, and notifies the requester. */
async function cancelUnrecorded(approval: Approval, reason: CancelReason, app: AppContext): Promise<void> {
  const audit = auditOfApproval(approval, app, {
    action: 'approval_answer',
    outcome: 'failed',
    actorId: THE_APP,
    surface: 'background',
    code: reason.code,
  });
  const to = { state: 'canceled', at: app.system.now(), reason } as const;
  const isMine = await app.approvals.move(approval.id, [approval.state], to, audit);
  if (isMine) await notifyApproval(approval.id, app);
}
