import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import { findPlan, type Order } from '../../domain/catalog.ts';
import { isExpected } from '../../domain/errors.ts';
import { isFrozenLabel, isIdenticalLabel } from '../../domain/label.ts';
import type { Money } from '../../domain/money.ts';
import { getHostingSince } from '../account/hosting-since.ts';
import { hasRole } from '../authorize/find-roles.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppPorts } from '../ports.ts';
import { findRenewPrice, findWrongChoices } from '../purchases/review-purchase.ts';

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the account, the price or the server has
 * changed. Undefined when it still can.
 * @throws HostingError, Refusal `no_api_key`, `identity_unknown` when nobody can say now
 */
export async function findCancelReason(approval: Approval, ports: AppPorts): Promise<string | undefined> {
  const { action, workspaceId } = approval;
  if (!(await hasRole(requesterOf(approval), 'manager', labelOfAction(action), ports))) return 'role_needed';
  try {
    const hosting = await getHostingSince(workspaceId, approval.requestedAt, ports);
    if (action.kind === 'delete') return await findDeleteFault(action, hosting);
    return await findPurchaseFault(action, hosting, approval, ports);
  } catch (error) {
    if (isExpected(error) && error.code === 'account_changed') return error.code;
    throw error;
  }
}

/** Who asked, and where. */
export function requesterOf({ workspaceId, requesterId, channelId }: Approval) {
  return { workspaceId, userId: requesterId, ...(channelId === undefined ? {} : { channelId }) };
}

async function findDeleteFault(
  { serverId, label, paidUntil }: Extract<ApprovalAction, { kind: 'delete' }>,
  hosting: HostingApi,
): Promise<string | undefined> {
  const server = (await hosting.listServers({ freshness: 'fresh' })).find(({ id }) => id === serverId);
  if (!server || server.state === 'deleted') return 'unknown_server';
  if (!isIdenticalLabel(server.label, label)) return 'label_differs';
  // A month that was paid since would be lost without anybody having said so.
  return server.paidUntil === paidUntil ? undefined : 'already_renewed';
}

async function findPurchaseFault(
  { purchase, price }: Extract<ApprovalAction, { kind: 'purchase' }>,
  hosting: HostingApi,
  approval: Approval,
  ports: AppPorts,
): Promise<string | undefined> {
  if (purchase.kind === 'create') return findCreateFault(purchase.order, price, hosting);
  const servers = await hosting.listServers({ freshness: 'fresh' });
  const server = servers.find(({ id }) => id === purchase.serverId);
  if (!server || server.state === 'deleted') return 'unknown_server';
  if (!isFrozenLabel(server.label, purchase.label)) return 'label_differs';
  const context = { actor: requesterOf(approval), ports, hosting: async () => hosting };
  const now = await findRenewPrice(server, context);
  if (now !== price) return now === undefined ? 'unknown_choice' : 'price_moved';
  return server.paidUntil === purchase.paidUntil ? undefined : 'already_renewed';
}

async function findCreateFault(order: Order, price: Money | undefined, hosting: HostingApi) {
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  if (findWrongChoices(order, catalog).length > 0) return 'unknown_choice';
  return findPlan(catalog, order.plan)?.monthly === price ? undefined : 'price_moved';
}
