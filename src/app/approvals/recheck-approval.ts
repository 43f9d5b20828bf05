import type { Actor } from '../../domain/actor.ts';
import {
  type Approval,
  type ApprovalAction,
  type CancelReason,
  labelOfAction,
} from '../../domain/approval.ts';
import { findPlan, type Order } from '../../domain/catalog.ts';
import { isRefusal } from '../../domain/errors.ts';
import { isFrozenLabel, isIdenticalLabel } from '../../domain/label.ts';
import type { Money } from '../../domain/money.ts';
import { isDeleted } from '../../domain/server.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import { hasRole } from '../authorize/find-roles.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import { fetchAllServers } from '../purchases/payment.ts';
import { findRenewPrice, findWrongChoices } from '../purchases/review-purchase.ts';

type CancelCode = CancelReason['code'];

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the account, the price or the server has
 * changed. Undefined when it still can.
 * @throws HostingError, Refusal `list_incomplete`, `no_api_key`, `key_unreadable`, `identity_unknown` when that can't be checked now
 */
export async function findCancelReason(
  approval: Approval,
  app: AppContext,
): Promise<CancelReason | undefined> {
  const label = labelOfAction(approval.action);
  const isAllowed = await hasRole(requesterOf(approval), 'manager', label, app);
  const code = isAllowed ? await findChange(approval, app) : 'role_needed';
  return code && { code, details: {} };
}

/** Who requested it, and where. */
export function requesterOf({
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
