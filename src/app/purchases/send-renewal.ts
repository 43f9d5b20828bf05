import { HostingError, Refusal } from '../../domain/errors.ts';
import { isFrozenLabel } from '../../domain/label.ts';
import type { Purchase } from '../../domain/operation.ts';
import { isDeleted } from '../../domain/server.ts';
import type { CallOptions } from '../hosting-api.ts';
import { fetchServersToPay, getPlan, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';
import { sendPermitted } from './permit-payment.ts';

type Renewal = Extract<Purchase, { readonly kind: 'renew' }>;
type Urgent = Pick<CallOptions, 'urgency'>;

/**
 * Sends a confirmed renewal and settles it. Money effect: pays one more month, once for each operation.
 * @throws Refusal `unknown_choice`, `price_moved`, `unknown_server`, `label_moved`, `paid_until_unknown`,
 * `already_renewed`, `renewed_elsewhere`, `stale_confirmation`; HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendRenewal(renewal: Renewal, payment: Payment): Promise<void> {
  const { serverId } = renewal;
  const check = async (how: Urgent) => {
    await refuseRenewedElsewhere(renewal, payment);
    await refuseOtherPrice(renewal, payment, how);
    await refuseOtherMonth(renewal, payment, how);
    return [];
  };
  const { paidUntil } = await sendPermitted(payment, check, (options) =>
    payment.hosting.renewServer(serverId, options),
  );
  // A month that was paid moves the date: an answer that says otherwise proves nothing.
  if (paidUntil <= renewal.paidUntil)
    throw new HostingError('unreadable_answer', 'maybe', { problem: 'unexpected' });
  await settleUntilStored(payment, { serverId, paidUntil });
}

/** Two workspaces may have confirmed the same month before it was known that they have the same account. */
async function refuseRenewedElsewhere(
  { serverId, label, paidUntil }: Renewal,
  { operation, hosting, app }: Payment,
): Promise<void> {
  const renewals = await app.ledger.listRenewals(hosting.account, operation.workspaceId, serverId);
  const isRenewed = renewals.some(
    ({ workspaceId, state, purchase }) =>
      workspaceId !== operation.workspaceId &&
      (state === 'sent' || state === 'unconfirmed' || state === 'settled') &&
      purchase.kind === 'renew' &&
      purchase.paidUntil === paidUntil,
  );
  if (isRenewed) throw new Refusal('renewed_elsewhere', { label });
}

async function refuseOtherPrice({ serverId }: Renewal, payment: Payment, how: Urgent): Promise<void> {
  const { operation, hosting, app } = payment;
  const created = await app.ledger.findCreateOf(operation.workspaceId, serverId);
  if (created?.purchase.kind !== 'create' || operation.price === undefined) return;
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh', ...how });
  refuseMovedPrice(operation.price, getPlan(catalog, created.purchase.order.plan).monthly);
}

async function refuseOtherMonth(
  { serverId, label, paidUntil }: Renewal,
  payment: Payment,
  how: Urgent,
): Promise<void> {
  const server = (await fetchServersToPay(payment, how)).find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) throw new Refusal('unknown_server', { typed: label });
  if (!isFrozenLabel(server.label, label))
    throw new Refusal('label_moved', { before: label, now: server.label });
  if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
  if (server.paidUntil !== paidUntil)
    throw new Refusal('already_renewed', { label: server.label, paidUntil: server.paidUntil });
}
