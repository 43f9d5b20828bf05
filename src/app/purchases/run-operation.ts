import type { AuditEntry } from '../../domain/audit-entry.ts';
import { type Catalog, findPlan, type Order, type Plan } from '../../domain/catalog.ts';
import { describeDefect, HostingError, isExpected, Refusal } from '../../domain/errors.ts';
import { isFrozenLabel, isSameLabel } from '../../domain/label.ts';
import type { Money } from '../../domain/money.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { getHostingSince } from '../account/hosting-since.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { HeldLock } from '../locks.ts';
import type { AppPorts } from '../ports.ts';
import { newLease, withLease } from './lease.ts';
import { notifyOperation } from './notify-operation.ts';
import type { Ledger } from './ports.ts';

/**
 * Carries out a confirmed purchase: sent at most once, settled, refused or in doubt, and told (docs/design.md 4).
 * Never throws: whatever happens is written to the ledger.
 * Money effect: pays at most once for each operation, however often it is called and by whom.
 */
export async function runOperation(id: string, ports: AppPorts): Promise<void> {
  const { ledger } = ports;
  const lease = newLease(ports);
  if (!(await ledger.lease(id, lease))) return;
  await withLease(id, lease.owner, ports, async () => {
    const operation = await ledger.find(id);
    if (operation?.state === 'prepared') await payOperation(operation, lease.owner, ports);
    return undefined;
  });
}

/** The same for whoever holds the lease already. Never throws but for the store's own failures. */
export async function payOperation(operation: Operation, owner: string, ports: AppPorts): Promise<void> {
  await pay(operation, owner, ports);
  await notifyOperation(operation.id, ports);
}

/** The only try/catch of the features: every way out of a payment ends in the ledger. */
async function pay(operation: Operation, owner: string, ports: AppPorts): Promise<void> {
  try {
    const hosting = await getHostingSince(operation.workspaceId, operation.createdAt, ports);
    if (operation.purchase.kind === 'create') {
      const { order } = operation.purchase;
      await ports.locks.run(hosting.account, (lock) =>
        create(operation, order, hosting, { owner, lock }, ports),
      );
    } else {
      const { purchase } = operation;
      const name = `${hosting.account}:${purchase.serverId}`;
      await ports.locks.run(name, (lock) => renew(operation, purchase, hosting, { owner, lock }, ports));
    }
  } catch (error) {
    await conclude(operation, error, ports);
  }
}

async function create(
  operation: Operation,
  order: Order,
  hosting: HostingApi,
  holder: Holder,
  ports: AppPorts,
): Promise<void> {
  await waitForOthers(operation, ports);
  const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
  refuseMovedPrice(operation.price, getPlan(catalog, order.plan).monthly);
  const knownIds = (await hosting.listServers({ freshness: 'fresh' })).map(({ id }) => id);
  const beforeSend = markSent(operation, knownIds, holder, ports);
  const made = await hosting.createServer(order, { beforeSend });
  await settleUntilStored(operation, ports, {
    serverId: made.id,
    ...(made.rootPassword ? { password: made.rootPassword } : {}),
  });
}

async function renew(
  operation: Operation,
  purchase: { readonly serverId: number; readonly label: string; readonly paidUntil: number },
  hosting: HostingApi,
  holder: Holder,
  ports: AppPorts,
): Promise<void> {
  const { serverId } = purchase;
  const made = await ports.ledger.findCreateOf(operation.workspaceId, serverId);
  if (made?.purchase.kind === 'create' && operation.price !== undefined) {
    const catalog = await hosting.fetchCatalog({ freshness: 'fresh' });
    refuseMovedPrice(operation.price, getPlan(catalog, made.purchase.order.plan).monthly);
  }
  const server = (await hosting.listServers({ freshness: 'fresh' })).find(({ id }) => id === serverId);
  if (!server || server.state === 'deleted') throw new Refusal('unknown_server', { typed: purchase.label });
  if (!isFrozenLabel(server.label, purchase.label))
    throw new Refusal('label_moved', { before: purchase.label, now: server.label });
  if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
  if (server.paidUntil !== purchase.paidUntil) {
    throw new Refusal('already_renewed', { label: server.label, paidUntil: server.paidUntil });
  }
  const beforeSend = markSent(operation, [], holder, ports);
  const renewed = await hosting.renewServer(serverId, { beforeSend });
  await settleUntilStored(operation, ports, {
    serverId,
    ...(renewed.paidUntil === undefined ? {} : { paidUntil: renewed.paidUntil }),
  });
}

/** Who pays: the owner of the operation's lease, under the lock of the account or the server. */
interface Holder {
  readonly owner: string;
  readonly lock: HeldLock;
}

/** Committed before the first byte leaves, and only while both the operation and the lock are still held. */
function markSent(
  operation: Operation,
  knownIds: readonly number[],
  { owner, lock }: Holder,
  ports: AppPorts,
): () => Promise<void> {
  return async () => {
    const at = ports.system.now();
    const { ledger } = ports;
    const isMine = await ledger.lease(operation.id, newLease(ports, owner));
    if (!isMine || !(await ledger.markSent(operation.id, { at, owner, knownIds, lock })))
      throw new Refusal('stale_confirmation', {});
  };
}

function getPlan(catalog: Catalog, code: string): Plan {
  const plan = findPlan(catalog, code);
  if (!plan) throw new Refusal('unknown_choice', { field: 'plan', typed: code });
  return plan;
}

function refuseMovedPrice(confirmed: Money | undefined, now: Money): void {
  if (confirmed !== undefined && confirmed !== now) {
    throw new Refusal('price_moved', { before: confirmed, now });
  }
}

const OTHERS_MOST_SECONDS = 60;

/**
 * A new id can only be told apart when no other create is under way, in this process (by turns) or another one;
 * and a label whose create is in doubt is not ordered again: that is how people pay twice.
 */
async function waitForOthers(operation: Operation, ports: AppPorts): Promise<void> {
  const label = labelOf(operation.purchase);
  for (let second = 0; second < OTHERS_MOST_SECONDS; second++) {
    const open = await ports.ledger.listOpen(operation.workspaceId);
    const others = open.filter((other) => other.id !== operation.id && other.purchase.kind === 'create');
    if (others.some((other) => other.state === 'in_doubt' && isSameLabel(labelOf(other.purchase), label))) {
      throw new Refusal('create_in_doubt', { label });
    }
    if (!others.some((other) => other.state === 'sent')) return;
    await ports.system.sleep(1000);
  }
  throw new Refusal('waited_too_long', {});
}

/**
 * The answer holds a password that exists nowhere else: a full disk or a lost database is waited out,
 * for as long as this process lives, rather than losing it.
 */
async function settleUntilStored(
  operation: Operation,
  ports: AppPorts,
  settled: Omit<Parameters<Ledger['settle']>[1], 'at'> & { readonly serverId: number },
): Promise<void> {
  const audit = auditOf(operation, ports, 'done', { serverId: settled.serverId });
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 10_000)) {
    try {
      const at = ports.system.now();
      const isKept = await ports.ledger.settle(operation.id, { ...settled, at, isFirstHand: true }, audit);
      if (!isKept)
        ports.log.error('a paid answer came to an operation that had ended', {
          operationId: operation.id,
        });
      return;
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unknown';
      ports.log.error('a paid answer could not be stored yet; trying again', {
        operationId: operation.id,
        cause,
      });
      await ports.system.sleep(waitMs);
    }
  }
}

/** Ends a payment that threw: refused with proof that it was not done, in doubt without. */
async function conclude(operation: Operation, error: unknown, ports: AppPorts): Promise<void> {
  const { ledger } = ports;
  const state = (await ledger.find(operation.id))?.state;
  const code = isExpected(error) ? error.code : 'defect';
  if (!isExpected(error)) logDefect(operation, error, ports);
  const at = ports.system.now();
  if (state === 'prepared' && code === 'shutting_down') return; // confirmed and unsent: the next start goes on with it
  if (state === 'prepared' || (state === 'sent' && isProofOfNothing(error))) {
    const audit = auditOf(operation, ports, 'failed', { code });
    await ledger.refuse(operation.id, { at, reason: code, ...detailsOf(error) }, audit);
  } else if (state === 'sent') {
    const audit = auditOf(operation, ports, 'in_doubt', { code });
    await ledger.markUnconfirmed(operation.id, { at, dueAt: at + FIRST_LOOK_MS, reason: code }, audit);
  }
}

/** The first look comes within 3 s (docs/design.md 4.8). */
const FIRST_LOOK_MS = 1500;

function isProofOfNothing(error: unknown): boolean {
  if (error instanceof HostingError) return error.moneyMoved === 'no';
  // Thrown between two tries of a request whose earlier tries were all proven not to have run.
  return error instanceof Refusal;
}

function detailsOf(error: unknown): { reasonDetails?: Record<string, string | number> } {
  if (!(error instanceof Refusal)) return {};
  const plain = Object.entries(error.details).filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return { reasonDetails: Object.fromEntries(plain) };
}

function logDefect(operation: Operation, error: unknown, ports: AppPorts): void {
  ports.log.error('a payment met a defect', { operationId: operation.id, ...describeDefect(error) });
}

/** The audit entry of a change of state. */
export function auditOf(
  operation: Operation,
  ports: AppPorts,
  outcome: AuditEntry['outcome'],
  more: { code?: string; serverId?: number; surface?: AuditEntry['surface'] } = {},
): AuditEntry {
  const serverId = operation.purchase.kind === 'renew' ? operation.purchase.serverId : undefined;
  return {
    at: ports.system.now(),
    workspaceId: operation.workspaceId,
    actorId: operation.actorId,
    ...(operation.channelId === undefined ? {} : { channelId: operation.channelId }),
    surface: 'modal',
    action: operation.purchase.kind,
    actId: operation.id,
    operationId: operation.id,
    label: labelOf(operation.purchase),
    ...(serverId === undefined ? {} : { serverId }),
    ...(operation.price === undefined ? {} : { money: operation.price }),
    outcome,
    ...more,
  };
}
