import { getHostingOf } from '../account/keys.ts';
import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { findPlan } from '../core/catalog.ts';
import { defineUseCase, type FollowUpContext } from '../core/entry.ts';
import { findHostingFailure, isRefusal, Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { isIdenticalLabel } from '../core/labels.ts';
import { hasRole } from '../core/permission.ts';
import type { Actor } from '../core/roles.ts';
import { isDeleted } from '../core/server.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { findWrongChoices } from '../purchases/catalog.ts';
import { budgetOf, findPlanOf } from '../purchases/costs.ts';
import { runOperation } from '../purchases/pay.ts';
import { fetchAllServers } from '../purchases/send.ts';
import { runDelete } from '../servers/deletion.ts';
import { getRequest, notifyRequest, refuseClosed, refuseOthersRequest, refuseOwnRequest } from './notify.ts';
import {
  APPROVAL_MS,
  APPROVALS,
  type Approval,
  type ApprovalAction,
  auditOfApproval,
  type CancelCode,
  labelOfAction,
} from './request.ts';

export type RequestedApproval = Awaited<ReturnType<typeof requestApproval>>;

/**
 * Requests a second user's approval instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (docs/design.md 4).
 */
export async function requestApproval(
  wanted: ApprovalAction & { readonly id: ConfirmationId; readonly isOverBudget: boolean },
  { actor, app }: FollowUpContext,
) {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const requestedAt = app.system.now();
  const times = { requestedAt, expiresAt: requestedAt + APPROVAL_MS };
  const approval = { ...wanted, ...times, workspaceId, requesterId, channelId };
  const audit = auditOfApproval(approval, app, { action: 'approval_ask', outcome: 'done' });
  return app.requests.requestApproval(approval, audit);
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
    const approval = await getRequest(input.id, APPROVALS, actor, app);
    const { id } = approval;
    setSubject({ operationId: id, label: labelOfAction(approval) });
    refuseOthersRequest(approval, actor);
    const withdrawn = { state: 'withdrawn', at: app.system.now(), by: actor.userId } as const;
    const audit = auditOfApproval(approval, app, {
      action: 'approval_withdraw',
      outcome: 'done',
      surface: 'button',
    });
    return (await app.requests.move<Approval>(id, ['open'], withdrawn, audit)) ?? refuseClosed(id, app);
  },
  follow: (approval, { app }) => notifyRequest(approval.id, app),
});

export type ApprovalAnswer =
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

/** Finds an open request, for the form in which it is denied with a reason. @throws Refusal `request_over`, `own_request`, `role_needed` */
export const readApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, context): Promise<Approval> => {
    const approval = await getRequest(id, APPROVALS, context.actor, context.app);
    refuseOwnRequest(approval, context.actor);
    await context.requireRoleFor(labelOfAction(approval));
    return approval.state === 'open' ? approval : refuseClosed(id, context.app);
  },
});

/**
 * A second user approves or denies what another one confirmed (two-person rule). What was confirmed is frozen: if
 * its price, its server, the budget, the account or the requester's role has changed since, it is canceled and nothing is
 * done; while it can't be checked whether something has, or purchases are frozen, it stays open.
 * Money effect: none yet; what is approved is prepared in the ledger, and what follows sends it.
 * @throws Refusal `request_over`, `own_request`, `role_needed`, `not_approved`, `purchases_frozen`
 */
export const answerApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: async (input: { id: ConfirmationId; answer: ApprovalAnswer }, context): Promise<Approval> => {
    const { id, answer } = input;
    const approval = await getRequest(id, APPROVALS, context.actor, context.app);
    context.setSubject({ operationId: id, label: labelOfAction(approval) });
    refuseOwnRequest(approval, context.actor);
    await context.requireRoleFor(labelOfAction(approval));
    const answered =
      answer.kind === 'approve'
        ? await approve(approval, context)
        : await deny(approval, answer.reason, context);
    return answered ?? refuseClosed(id, context.app);
  },
  follow: async (approval, { app }) => {
    await notifyRequest(approval.id, app);
    if (approval.state !== 'approved') return;
    await (approval.kind === 'purchase' ? runOperation : runDelete)(approval.id, app);
  },
});

function deny(approval: Approval, denialReason: string | undefined, { actor, app }: FollowUpContext) {
  const denied = { state: 'denied', at: app.system.now(), by: actor.userId, denialReason } as const;
  const audit = auditOfAnswer(approval, 'denied', actor, app);
  // The label of the first entry is the server's, so that it is found by that: the reason gets its own, of the same act.
  const details = { kind: 'reason', reason: denialReason ?? '' } as const;
  const reason = denialReason && { ...audit, action: 'denial_reason' as const, label: undefined, details };
  return app.requests.move<Approval>(approval.id, ['open'], denied, audit, ...(reason ? [reason] : []));
}

/** Approved, or canceled; undefined if another user was faster, or if it has expired. */
async function approve(approval: Approval, { actor, app }: FollowUpContext): Promise<Approval | undefined> {
  const { id, workspaceId, kind, state, expiresAt, isOverBudget } = approval;
  const at = app.system.now();
  if (state !== 'open' || expiresAt <= at) return undefined;
  const settings = await app.workspaces.readSettings(workspaceId);
  if (kind === 'purchase') refuseFrozen(settings);
  const by = actor.userId;
  const code = await findChange(approval, app).catch(refuseUnchecked);
  if (code) {
    const canceled = { state: 'canceled', at, by, reason: code } as const;
    return app.requests.move<Approval>(id, ['open'], canceled, auditOfAnswer(approval, code, actor, app));
  }
  // A request over budget is paid anyway: going over the budget is what was approved.
  const budget = isOverBudget ? undefined : budgetOf(settings, app.system.now());
  const audit = auditOfAnswer(approval, 'approved', actor, app);
  return app.requests.approve(id, { by, at, budget }, audit);
}

function refuseUnchecked(error: unknown): never {
  const failure = findHostingFailure(error);
  if (failure) throw new Refusal('not_approved', { reason: failure });
  if (isRefusal(error, 'identity_unknown'))
    throw new Refusal('not_approved', { reason: { code: 'identity_unknown', details: error.details } });
  throw error;
}

function auditOfAnswer(
  approval: Approval,
  code: 'approved' | 'denied' | CancelCode,
  { userId: actorId }: Actor,
  app: AppContext,
): AuditEntry {
  const outcome = code === 'approved' || code === 'denied' ? 'done' : 'failed';
  return auditOfApproval(approval, app, {
    action: 'approval_answer',
    outcome,
    actorId,
    surface: 'button',
    code,
  });
}

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the account, the price or the server has
 * changed. Undefined when it still can.
 * @throws HostingError, Refusal `list_incomplete`, `no_api_key`, `key_unreadable`, `identity_unknown` when that can't be checked now
 */
async function findChange(approval: Approval, app: AppContext): Promise<CancelCode | undefined> {
  const isAllowed = await hasRole(requesterOf(approval), 'manager', labelOfAction(approval), app);
  if (!isAllowed) return 'role_needed';
  const hosting = await getHostingOf(approval, app).catch((error: unknown) => {
    if (isRefusal(error, 'account_changed')) return undefined;
    throw error;
  });
  if (!hosting) return 'account_changed';
  const isProtected =
    approval.kind === 'delete' &&
    (await app.serverNotes.find('protection', approval.workspaceId, approval.serverId));
  return isProtected ? 'server_protected' : findListedChange(approval, hosting, app);
}

function requesterOf({ workspaceId, requesterId, channelId }: Approval): Actor {
  return { workspaceId, userId: requesterId, channelId };
}

/** What has changed in the catalog or the list of servers. */
async function findListedChange(
  approval: Approval,
  hosting: HostingApi,
  app: AppContext,
): Promise<CancelCode | undefined> {
  const confirmed = approval.kind === 'delete' ? approval : approval.purchase;
  const price = approval.kind === 'delete' ? undefined : approval.price;
  if (confirmed.kind === 'create') {
    const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
    if (findWrongChoices(confirmed.order, catalog).length > 0) return 'unknown_choice';
    return findPlan(catalog, confirmed.order.plan)?.monthly === price ? undefined : 'price_moved';
  }
  const server = (await fetchAllServers(hosting, {})).find(({ id }) => id === confirmed.serverId);
  if (!server || isDeleted(server)) return 'unknown_server';
  if (!isIdenticalLabel(server.label, confirmed.label)) return 'label_differs';
  if (confirmed.kind === 'renew') {
    const context = { actor: requesterOf(approval), app, hosting: async () => hosting };
    const now = (await findPlanOf(server, context))?.monthly;
    if (now !== price) return now === undefined ? 'unknown_choice' : 'price_moved';
  }
  // A delete would lose a month that was paid since, without the requester having agreed to that.
  return server.paidUntil === confirmed.paidUntil ? undefined : 'already_renewed';
}
