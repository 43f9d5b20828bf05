import type { Order } from '../../domain/catalog.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { ContradictoryAnswer } from '../../domain/outcome.ts';
import type { Server } from '../../domain/server.ts';
import { fetchServersToPay, getPlan, type Payment, refuseMovedPrice, settleUntilStored } from './payment.ts';
import { sendPermitted } from './permit-payment.ts';
import { listNamesakes } from './review-purchase.ts';

/**
 * Sends a confirmed create, settles it, and returns the state that the API reported. Money effect: pays the first month, once for each operation.
 * @throws ContradictoryAnswer; Refusal `newer_version`, `create_in_doubt`, `create_in_doubt_elsewhere`, `label_taken`, `list_incomplete`, `waited_too_long`,
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
    const servers = await fetchServersToPay(payment, how);
    await refuseUnseenNamesake(servers, payment);
    knownIds = servers.map(({ id }) => id);
    return knownIds;
  };
  const created = await sendPermitted(payment, check, (options) => hosting.createServer(order, options));
  const { id, state, rootPassword } = created;
  // A server that was there before is not the one that was just paid.
  if (knownIds.includes(id)) throw new ContradictoryAnswer(rootPassword);
  await settleUntilStored(payment, { serverId: id, password: rootPassword });
  return state;
}

/** A colleague may have just created the same server on the account's page, so the user is asked again. */
async function refuseUnseenNamesake(
  servers: readonly Server[],
  { operation, hosting, app }: Payment,
): Promise<void> {
  const { purchase, workspaceId } = operation;
  const seen = purchase.kind === 'create' ? (purchase.namesakeIds ?? []) : [];
  const label = labelOf(purchase);
  const unseen = listNamesakes(servers, label).filter((id) => !seen.includes(id));
  // Two orders for one label that were both confirmed here are meant to be two servers.
  const ours = await app.ledger.listSettledIds(hosting.account, unseen, workspaceId);
  if (unseen.some((id) => !ours.includes(id))) throw new Refusal('label_taken', { label });
}

/** An open order of a newer version may be for the same server, and this version can't see that. */
async function refuseBesideNewer({ operation, app }: Payment): Promise<void> {
  if (await app.ledger.hasNewer(operation.workspaceId)) throw new Refusal('newer_version', {});
}

const WAIT_MOST_SECONDS = 60;

/**
 * The id of a new server says which create made it only while no other create of the account is under way, so one that another
 * process has sent is waited for. A label whose create is unconfirmed is not ordered again: that would pay twice.
 */
async function waitForOtherCreates({ operation, hosting, app }: Payment): Promise<void> {
  const { id, workspaceId } = operation;
  for (let second = 0; second < WAIT_MOST_SECONDS; second++) {
    const creates = await app.ledger.listUnresolvedCreates(hosting.account, workspaceId);
    const others = creates.filter((other) => other.id !== id);
    refuseUnconfirmedLabel(operation, others);
    if (!others.some((other) => other.state === 'sent')) return;
    await app.system.sleep(1000);
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
