import { getHostingOf } from '../account/keys.ts';
import { refuseFrozen } from '../account/workspaces.ts';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { findPlan, type Order } from '../core/catalog.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { describeDefect, findHostingFailure, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { isFrozenLabel, isIdenticalLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import { hasRole } from '../core/permission.ts';
import { type Actor, THE_APP } from '../core/roles.ts';
import { isDeleted } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { findBudget } from '../purchases/budget.ts';
import { runOperation } from '../purchases/pay.ts';
import { findRenewPrice, findWrongChoices } from '../purchases/review.ts';
import { fetchAllServers } from '../purchases/send.ts';
import { findListed, sendDelete } from '../servers/delete-server.ts';
import { getRequest, notifyRequest, refuseClosed, refuseOwnRequest } from './notify.ts';
import {
  APPROVALS,
  type Approval,
  auditOfApproval,
  type CancelReason,
  type DeleteEnd,
  labelOfAction,
  type Request,
} from './request.ts';

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
 * Money effect: none yet; an approved purchase is prepared in the ledger, and what follows sends it.
 * @throws Refusal `request_over`, `own_request`, `role_needed`, `not_approved`, `purchases_frozen`; `approval_unsaved` when the
 * store fails
 */
export const answerApproval = defineUseCase({
  name: 'approval_answer',
  needs: 'manager',
  effect: 'confirms',
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
    if (approval.state === 'approved') await carryOut(approval, app);
  },
});

type Context = Pick<UseCaseContext, 'actor' | 'app'>;

function deny(approval: Approval, denialReason: string | undefined, { actor, app }: Context) {
  const denied = { state: 'denied', at: app.system.now(), by: actor.userId, denialReason } as const;
  const audit = auditOfAnswer(approval, 'denied', actor, app);
  // The label of the first entry is the server's, so that it is found by that: the reason gets its own, of the same act.
  const details = { kind: 'reason', reason: denialReason ?? '' } as const;
  const reason = denialReason && { ...audit, action: 'denial_reason' as const, label: undefined, details };
  return app.requests.move<Approval>(approval.id, ['open'], denied, audit, ...(reason ? [reason] : []));
}

/** Approved, or canceled; undefined if another user was faster, or if it has expired. */
async function approve(approval: Approval, { actor, app }: Context): Promise<Approval | undefined> {
  const { id, workspaceId, kind, state, expiresAt, isOverBudget } = approval;
  const at = app.system.now();
  if (state !== 'open' || expiresAt <= at) return undefined;
  if (kind === 'purchase') await refuseFrozen(workspaceId, app.workspaces);
  const by = actor.userId;
  const reason = await findCancelReason(approval, app).catch(refuseUnchecked);
  if (reason) {
    const audit = auditOfAnswer(approval, reason.code, actor, app);
    return app.requests.move<Approval>(id, ['open'], { state: 'canceled', at, by, reason }, audit);
  }
  // A request over budget is paid anyway: going over the budget is what was approved.
  const budget = isOverBudget ? undefined : await findBudget({ actor: requesterOf(approval), app });
  const audit = auditOfAnswer(approval, 'approved', actor, app);
  return app.requests.approve(id, { by, at, budget }, audit).catch((error: unknown) => {
    if (isExpected(error)) throw error;
    app.log.error('an approval could not be saved', { approvalId: id, ...describeDefect(error) });
    // Whether it was written is not known: what was approved may still be carried out.
    throw new Refusal('approval_unsaved', {});
  });
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
  code: 'approved' | 'denied' | CancelReason['code'],
  { userId: actorId }: Pick<Actor, 'userId'>,
  app: AppContext,
): AuditEntry {
  const outcome = code === 'approved' || code === 'denied' ? 'done' : 'failed';
  const surface = actorId === THE_APP ? 'background' : 'button';
  return auditOfApproval(approval, app, { action: 'approval_answer', outcome, actorId, surface, code });
}

type CancelCode = CancelReason['code'];

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the account, the price or the server has
 * changed. Undefined when it still can.
 * @throws HostingError, Refusal `list_incomplete`, `no_api_key`, `key_unreadable`, `identity_unknown` when that can't be checked now
 */
async function findCancelReason(approval: Approval, app: AppContext): Promise<CancelReason | undefined> {
  const isAllowed = await hasRole(requesterOf(approval), 'manager', labelOfAction(approval), app);
  const code = isAllowed ? await findChange(approval, app) : 'role_needed';
  return code && { code, details: {} };
}

/** Who requested it, and where. */
function requesterOf({ workspaceId, requesterId, channelId }: Approval): Actor {
  return { workspaceId, userId: requesterId, channelId };
}

async function findChange(approval: Approval, app: AppContext): Promise<CancelCode | undefined> {
  const hosting = await getHostingOf(approval, app).catch((error: unknown) => {
    if (isRefusal(error, 'account_changed')) return undefined;
    throw error;
  });
  if (!hosting) return 'account_changed';
  if (approval.kind === 'purchase') return findPurchaseChange(approval, hosting, app);
  const isProtected = await app.serverNotes.find('protection', approval.workspaceId, approval.serverId);
  return isProtected ? 'server_protected' : findDeleteChange(approval, hosting);
}

type ApprovedDelete = Extract<Approval, { kind: 'delete' }>;
type ApprovedPurchase = Extract<Approval, { kind: 'purchase' }>;

async function findDeleteChange(
  { serverId, label, paidUntil }: ApprovedDelete,
  hosting: HostingApi,
): Promise<CancelCode | undefined> {
  const server = (await fetchAllServers(hosting, {})).find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) return 'unknown_server';
  if (!isIdenticalLabel(server.label, label)) return 'label_differs';
  // A month that was paid since would be lost without the requester having agreed to that.
  return server.paidUntil === paidUntil ? undefined : 'already_renewed';
}

async function findPurchaseChange(
  approval: ApprovedPurchase,
  hosting: HostingApi,
  app: AppContext,
): Promise<CancelCode | undefined> {
  const { purchase, price } = approval;
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

/**
 * Carries out what was approved, once, in whichever process takes it first, and reports the outcome.
 * Money effect: a purchase is paid through the ledger (docs/design.md 4); a delete loses the rest of the paid month.
 */
async function carryOut(approval: Approval, app: AppContext): Promise<void> {
  if (approval.kind === 'purchase') return runOperation(approval.id, app);
  await app.locks.runIfFree(lockOfDelete(approval.id), () => runDelete(approval, app));
}

/** The process that sends an approved delete holds this until the answer arrives, so that others see that it is running. */
export function lockOfDelete(id: ConfirmationId): string {
  return `approved ${id}`;
}

/** The same for the holder of that lock. */
async function runDelete(approval: ApprovedDelete, app: AppContext): Promise<void> {
  const { id, workspaceId, serverId } = approval;
  const started = auditOfApproval(approval, app, { action: 'delete', actId: id, outcome: 'started' });
  // Committed before the request is sent: of two processes that get here, only one continues.
  const running = { state: 'running', at: app.system.now() } as const;
  if (!(await app.requests.move(id, ['approved'], running, started))) return;
  // Protecting the server after it was approved has the last word.
  const isProtected = await app.serverNotes.find('protection', workspaceId, serverId);
  const code = isProtected ? 'server_protected' : undefined;
  await endDelete(approval, code ? { code, details: {} } : await sendApproved(approval, app), app);
}

async function sendApproved(approval: ApprovedDelete, app: AppContext): Promise<DeleteEnd> {
  try {
    const { kind } = await sendDelete(approval.serverId, await getHostingOf(approval, app));
    if (kind === 'gone') return { code: 'done', details: {} };
  } catch (error) {
    // Proof that it was not deleted, or a defect.
    const failure = findHostingFailure(error);
    if (failure && failure.code !== 'unreadable_answer' && failure.code !== 'unknown_code') return failure;
    app.log.error('an approved delete met a defect', {
      confirmationId: approval.id,
      ...describeDefect(error),
    });
    return { code: 'defect', details: {} };
  }
  // Another account may have been connected while the answer was awaited: then its servers could not be looked for there.
  const isOther = await getHostingOf(approval, app).then(
    () => false,
    (error: unknown) => isRefusal(error, 'account_changed'),
  );
  return { code: isOther ? 'lost_account' : 'no_answer', details: {} };
}

/** Writes how an approved delete ended, and notifies users of it. Its start and its end are one act in the audit. */
async function endDelete(approval: ApprovedDelete, reason: DeleteEnd, app: AppContext): Promise<void> {
  const { id } = approval;
  const { code } = reason;
  const isUnclear = code === 'no_answer' || code === 'lost_account';
  const audit = auditOfApproval(approval, app, {
    action: 'delete',
    actId: id,
    outcome: code === 'done' ? 'done' : isUnclear ? 'in_doubt' : 'failed',
    code: code === 'done' ? undefined : code,
  });
  const ended = { state: 'ended', at: app.system.now(), reason } as const;
  if (await app.requests.move(id, ['running'], ended, audit)) await notifyRequest(id, app);
}

/** An approved delete that was left unsent is carried out within this time, and canceled after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** A crashed process never gets its answer, but what it sent may still be carried out for this long. */
const ORPHAN_MS = 2 * MINUTE_MS;

/** Continues an approved delete that a crash has interrupted. */
export async function resumeDelete({ id }: Request, startedAt: number, app: AppContext): Promise<void> {
  // Held for as long as a living process sends it and waits for the answer.
  await app.locks.runIfFree(lockOfDelete(id), async () => {
    // The process that held the lock may have ended it since it was listed.
    const approval = await app.requests.find(id, ['delete']);
    const now = app.system.now();
    if (approval?.state === 'approved') await carryOutLate(approval, now, app);
    if (approval?.state === 'running') await conclude(approval, now, startedAt, app);
  });
}

/** Approved but not started: everything is checked again, as at the approval. */
async function carryOutLate(approval: ApprovedDelete, now: number, app: AppContext): Promise<void> {
  const { id, decidedAt = now } = approval;
  const reason: CancelReason | undefined =
    now - decidedAt > RESUME_MS
      ? { code: 'stale_confirmation', details: {} }
      : await findCancelReason(approval, app);
  if (!reason) return runDelete(approval, app);
  const audit = auditOfAnswer(approval, reason.code, { userId: THE_APP }, app);
  const canceled = { state: 'canceled', at: app.system.now(), reason } as const;
  if (await app.requests.move(id, ['approved'], canceled, audit)) await notifyRequest(id, app);
}

/** Started, and the answer was lost: the list of servers shows whether the server is gone. */
async function conclude(
  approval: ApprovedDelete,
  now: number,
  startedAt: number,
  app: AppContext,
): Promise<void> {
  const { id, serverId, decidedAt = now } = approval;
  // Another account's servers prove nothing.
  const isListed = await getHostingOf(approval, app)
    .then((hosting) => findListed(serverId, hosting))
    .catch((error: unknown) => (isRefusal(error, 'account_changed') ? 'other_account' : undefined));
  const isOverdue = now - Math.max(decidedAt, startedAt) > ORPHAN_MS;
  if (isListed === false) await endDelete(approval, { code: 'done', details: {} }, app);
  else if (isOverdue) {
    const code = isListed === 'other_account' ? 'lost_account' : 'no_answer';
    await endDelete(approval, { code, details: {} }, app);
  } else app.log.debug('an approved delete has no answer yet', { confirmationId: id });
}
