import { Refusal } from '../../domain/errors.ts';
import { isFrozenLabel } from '../../domain/label.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Purchase } from '../../domain/operation.ts';
import { getPlan, markSent, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';

type Renewal = Extract<Purchase, { readonly kind: 'renew' }>;

/**
 * Sends a confirmed renewal and settles it. Money effect: pays one more month, once for each operation.
 * @throws Refusal `unknown_choice`, `price_moved`, `unknown_server`, `label_moved`, `paid_until_unknown`,
 * `already_renewed`, `stale_confirmation`; HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendRenewal(renewal: Renewal, payment: Payment): Promise<void> {
  const { serverId } = renewal;
  await refuseOtherPrice(renewal, payment);
  await refuseOtherMonth(renewal, payment);
  const { paidUntil } = await payment.hosting.renewServer(serverId, { beforeSend: markSent(payment, []) });
  await settleUntilStored(payment, omitUndefined({ serverId, paidUntil }));
}

async function refuseOtherPrice({ serverId }: Renewal, payment: Payment): Promise<void> {
  const { operation, hosting, ports } = payment;
  const created = await ports.ledger.findCreateOf(operation.workspaceId, serverId);
  if (created?.purchase.kind !== 'create' || operation.price === undefined) return;
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  refuseMovedPrice(operation.price, getPlan(catalog, created.purchase.order.plan).monthly);
}

async function refuseOtherMonth(
  { serverId, label, paidUntil }: Renewal,
  { hosting }: Payment,
): Promise<void> {
  const server = (await hosting.listServers({ freshness: 'fresh' })).find(({ id }) => id === serverId);
  if (!server || server.state === 'deleted') throw new Refusal('unknown_server', { typed: label });
  if (!isFrozenLabel(server.label, label))
    throw new Refusal('label_moved', { before: label, now: server.label });
  if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
  if (server.paidUntil !== paidUntil)
    throw new Refusal('already_renewed', { label: server.label, paidUntil: server.paidUntil });
}
