import type { Order } from '../../domain/catalog.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { labelOf } from '../../domain/operation.ts';
import { ContradictoryAnswer } from '../../domain/outcome.ts';
import { fetchAllServers, getPlan, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';
import { sendPermitted } from './permit-payment.ts';

/**
 * Sends a confirmed create, settles it, and returns the state that the API reported. Money effect: pays the first month, once for each operation.
 * @throws ContradictoryAnswer; Refusal `create_in_doubt`, `list_incomplete`, `waited_too_long`, `unknown_choice`, `price_moved`, `stale_confirmation`;
 * HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendCreate(order: Order, payment: Payment): Promise<string> {
  const { operation, hosting } = payment;
  await waitForOtherCreates(payment);
  let knownIds: readonly ServerId[] = [];
  const check: Parameters<typeof sendPermitted>[1] = async (how) => {
    const catalog = await hosting.fetchCatalog({ freshness: 'fresh', ...how });
    refuseMovedPrice(operation.price, getPlan(catalog, order.plan).monthly);
    knownIds = (await fetchAllServers(hosting, how)).map(({ id }) => id);
    return knownIds;
  };
  const created = await sendPermitted(payment, check, (options) => hosting.createServer(order, options));
  const { rootPassword, sealedAnswer } = created;
  // A server that was there before is not the one that was just paid.
  if (knownIds.includes(created.id)) throw new ContradictoryAnswer(rootPassword ?? sealedAnswer);
  const settled = omitUndefined({ serverId: created.id, password: rootPassword, answer: sealedAnswer });
  await settleUntilStored(payment, settled);
  return created.state;
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
