import { reaches } from '../domain/access.ts';
import { type Approval, type Deed, labelOfDeed } from '../domain/approval.ts';
import { findPlan } from '../domain/catalog.ts';
import { Refusal } from '../domain/errors.ts';
import type { Purchase } from '../domain/operation.ts';
import type { HostingApi } from './ports.ts';
import { findReach } from './reach.ts';
import { findRenewPrice } from './review-purchase.ts';
import type { Services } from './services.ts';

/**
 * Why what was confirmed can't be carried out as it was: the requester's role, the price or the server has changed.
 * Undefined when it still can.
 * @throws HostingError, Refusal `no_api_key` when nobody can say now
 */
export async function findVoidReason(approval: Approval, services: Services): Promise<string | undefined> {
  const { deed, workspaceId } = approval;
  const reach = await findReach(requesterOf(approval), services);
  if (!reaches(reach, 'manager', labelOfDeed(deed))) return 'role_needed';
  const hosting = await getHosting(workspaceId, services);
  return deed.kind === 'delete'
    ? findDeleteFault(deed, hosting)
    : findPurchaseFault(deed, hosting, approval, services);
}

/** Who asked, and where. */
export function requesterOf({ workspaceId, requesterId, channelId }: Approval) {
  return { workspaceId, userId: requesterId, ...(channelId === undefined ? {} : { channelId }) };
}

/** The client of the workspace's account, outside of a request. @throws Refusal `no_api_key` */
export async function getHosting(
  workspaceId: string,
  { store, hostingOf }: Pick<Services, 'store' | 'hostingOf'>,
): Promise<HostingApi> {
  const held = await store.apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  return hostingOf(held.key);
}

async function findDeleteFault(
  { serverId, label, paidUntil }: Extract<Deed, { kind: 'delete' }>,
  hosting: HostingApi,
): Promise<string | undefined> {
  const server = (await hosting.listServers({ freshness: 'fresh' })).find(({ id }) => id === serverId);
  if (!server || server.state === 'deleted') return 'unknown_server';
  if (server.label !== label) return 'label_differs';
  // A month that was paid since would be lost without anybody having said so.
  return server.paidUntil === paidUntil ? undefined : 'already_renewed';
}

async function findPurchaseFault(
  { purchase, price }: Extract<Deed, { kind: 'purchase' }>,
  hosting: HostingApi,
  approval: Approval,
  services: Services,
): Promise<string | undefined> {
  const now = await findPrice(purchase, hosting, approval, services);
  if (now !== price) return 'price_moved';
  if (purchase.kind === 'create') return undefined;
  const servers = await hosting.listServers({ freshness: 'fresh' });
  const server = servers.find(({ id }) => id === purchase.serverId);
  if (!server) return 'unknown_server';
  return server.paidUntil === purchase.paidUntil ? undefined : 'already_renewed';
}

async function findPrice(purchase: Purchase, hosting: HostingApi, approval: Approval, services: Services) {
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  if (purchase.kind === 'create') return findPlan(catalog, purchase.order.plan)?.monthly;
  const scene = { actor: requesterOf(approval), services, hosting: async () => hosting };
  return findRenewPrice(purchase.serverId, scene);
}
