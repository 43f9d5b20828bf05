import type { Order } from '../../domain/catalog.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { ContradictoryAnswer } from '../../domain/outcome.ts';
import { fetchServersToPay, getPlan, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';
import { sendPermitted } from './permit-payment.ts';

/**
 * Sends a confirmed create, settles it, and returns the state that the API reported. Money effect: pays the first month, once for each operation.
 * @throws ContradictoryAnswer; Refusal `newer_version`, `create_in_doubt`, `create_in_doubt_elsewhere`, `list_incomplete`, `waited_too_long`,
 * `unknown_choice`, `price_moved`, `stale_confirmation`;
 * HostingError, whose `moneyMoved` says whether it may have been paid
 */
export async function sendCreate(order: Order, payment: Payment): Promise<string> {
  const { operation, hosting } = payment;
  await refuseBesideNewer(payment);
  let knownIds: readonly ServerId[] = [];
  const check: Parameters<typeof sendPermitted>[1] = async (how) => {
    // At every look: by then, another workspace may have been found to have this account.
    await waitForOtherCreates(payment);
    const catalog = await hosting.fetchCatalog({ freshness: 'fresh', ...how });
    refuseMovedPrice(operation.price, getPlan(catalog, order.plan).monthly);
    knownIds = (await fetchServersToPay(payment, how)).map(({ id }) => id);
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

/** An open order of a newer version may be for the same server, and this version can't see that. */
async function refuseBesideNewer({ operation, ports }: Payment): Promise<void> {
  if (await ports.ledger.hasNewer(operation.workspaceId)) throw new Refusal('newer_version', {});
}

const WAIT_MOST_SECONDS = 60;

/**
 * The id of a new server says which create made it only while no other create of the account is under way, so one that another
 * process has sent is waited for. A label whose create is unconfirmed is not ordered again: that would pay twice.
 */
async function waitForOtherCreates({ operation, hosting, ports }: Payment): Promise<void> {
  const { id, workspaceId } = operation;
  for (let second = 0; second < WAIT_MOST_SECONDS; second++) {
    const creates = await ports.ledger.listUnresolvedCreates(hosting.account, workspaceId);
    const others = creates.filter((other) => other.id !== id);
    refuseUnconfirmedLabel(operation, others);
    if (!others.some((other) => other.state === 'sent')) return;
    await ports.system.sleep(1000);
  }
  throw new Refusal('waited_too_long', {});
}

function refuseUnconfirmedLabel({ workspaceId, purchase }: Operation, others: readonly Operation[]): void {
  const label = labelOf(purchase);
  const namesakes = others.filter(
    (other) => other.state === 'unconfirmed' && isSameLabel(labelOf(other.purchase), label),
  );
  if (namesakes.length === 0) return;
  // Only the existence of another workspace's order is revealed.
  const isOwn = namesakes.some((other) => other.workspaceId === workspaceId);
  throw new Refusal(isOwn ? 'create_in_doubt' : 'create_in_doubt_elsewhere', { label });
}
