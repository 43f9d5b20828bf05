import type { Order } from '../../domain/catalog.ts';
import { Refusal } from '../../domain/errors.ts';
import { isSameLabel } from '../../domain/label.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { labelOf } from '../../domain/operation.ts';
import { getPlan, markSent, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';

/**
 * Sends a confirmed create and settles it. Money effect: pays the first month, once for each operation.
 * @throws Refusal `create_in_doubt`, `waited_too_long`, `unknown_choice`, `price_moved`, `stale_confirmation`;
 * HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendCreate(order: Order, payment: Payment): Promise<void> {
  const { operation, hosting } = payment;
  await waitForOtherCreates(payment);
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  refuseMovedPrice(operation.price, getPlan(catalog, order.plan).monthly);
  const knownIds = (await hosting.listServers({ freshness: 'fresh' })).map(({ id }) => id);
  const created = await hosting.createServer(order, { beforeSend: markSent(payment, knownIds) });
  const settled = omitUndefined({ serverId: created.id, password: created.rootPassword });
  await settleUntilStored(payment, settled);
}

const WAIT_MOST_SECONDS = 60;

/**
 * The id of a new server says which create made it only while no other create is under way, so one that another process
 * has sent is waited for. A label whose create is unconfirmed is not ordered again: that would pay twice.
 */
async function waitForOtherCreates({ operation, ports }: Payment): Promise<void> {
  const label = labelOf(operation.purchase);
  for (let second = 0; second < WAIT_MOST_SECONDS; second++) {
    const open = await ports.ledger.listOpen(operation.workspaceId);
    const others = open.filter((other) => other.id !== operation.id && other.purchase.kind === 'create');
    if (
      others.some((other) => other.state === 'unconfirmed' && isSameLabel(labelOf(other.purchase), label))
    ) {
      throw new Refusal('create_in_doubt', { label });
    }
    if (!others.some((other) => other.state === 'sent')) return;
    await ports.system.sleep(1000);
  }
  throw new Refusal('waited_too_long', {});
}
