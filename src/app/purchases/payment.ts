import { type Catalog, findPlan, type Plan } from '../../domain/catalog.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import type { Money } from '../../domain/money.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Server } from '../../domain/server.ts';
import type { System } from '../../system.ts';
import type { CallOptions, HostingApi } from '../hosting-api.ts';
import type { HeldLock } from '../locks.ts';
import type { AppContext } from '../ports.ts';
import { auditOfOperation } from './audit-operation.ts';
import type { Ledger, PaidAnswer } from './ports.ts';
import { forgetSpilled, spillAnswer } from './spill.ts';
import { untilStored } from './until-stored.ts';

/** A confirmed operation on its way to the hosting API. */
export interface Payment {
  readonly operation: Operation;
  readonly hosting: HostingApi;
  /** Who has the operation's lease. */
  readonly owner: string;
  /** Of the account for a create, of the server for a renewal. */
  readonly lock: HeldLock;
  readonly app: AppContext;
}

/** @throws Refusal `unknown_choice` */
export function getPlan(catalog: Catalog, code: string): Plan {
  const plan = findPlan(catalog, code);
  if (!plan) throw new Refusal('unknown_choice', { field: 'plan', typed: code });
  return plan;
}

/** @throws Refusal `price_moved` when the price is not the confirmed one any more */
export function refuseMovedPrice(confirmed: Money | undefined, now: Money): void {
  if (confirmed !== undefined && confirmed !== now) {
    throw new Refusal('price_moved', { before: confirmed, now });
  }
}

/**
 * The servers of the account, all of them: what is not in the list counts as not there.
 * @throws Refusal `list_incomplete`
 */
export async function fetchAllServers(
  hosting: HostingApi,
  how: Pick<CallOptions, 'urgency'>,
): Promise<readonly Server[]> {
  const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh', ...how });
  if (extent === 'part') throw new Refusal('list_incomplete', {});
  return servers;
}

/**
 * The same before a payment is sent: if the servers show that another workspace has the same account, its orders count from
 * here on.
 * @throws Refusal `list_incomplete`
 */
export async function fetchServersToPay(
  { hosting, app }: Pick<Payment, 'hosting' | 'app'>,
  how: Pick<CallOptions, 'urgency'>,
): Promise<readonly Server[]> {
  const servers = await fetchAllServers(hosting, how);
  await app.accountRecognition.recognize(hosting, servers);
  return servers;
}

type Settled = Omit<Parameters<Ledger['settle']>[1], 'at' | 'isFirstHand'> & { readonly serverId: ServerId };

/**
 * Stores the API's own answer. It may hold a password that exists nowhere else, so while the disk is full or the
 * database locked, this retries until the process ends, and keeps the answer in a file meanwhile.
 */
export async function settleUntilStored(
  { operation, app }: Pick<Payment, 'operation' | 'app'>,
  settled: Settled,
): Promise<void> {
  const { log, ledger, system } = app;
  const { id } = operation;
  const audit = auditOfOperation(operation, app, 'done', { serverId: settled.serverId });
  const settle = () => ledger.settle(id, { ...settled, at: system.now(), isFirstHand: true }, audit);
  const isStored = await storeAnswer(id, settled, settle, app);
  if (!isStored) log.error('a paid answer came to an operation that had ended', { operationId: id });
}

/** Stores an answer, however long that takes, and keeps it in a file meanwhile. */
export async function storeAnswer<Result>(
  operationId: ConfirmationId,
  answer: PaidAnswer,
  store: () => Promise<Result>,
  app: AppContext,
): Promise<Result> {
  let isSpilled = false;
  const spill = async () => {
    isSpilled ||= await spillAnswer(operationId, answer, app);
  };
  const storeSoon = () => spillIfSlow(store, spill, app.system);
  const result = await untilStored(operationId, storeSoon, app, spill);
  if (isSpilled) await forgetSpilled(operationId, app);
  return result;
}

/** A database that takes longer may be stuck, for longer than this process lives. */
const SLOW_MS = 1000;

async function spillIfSlow<Result>(
  settle: () => Promise<Result>,
  spill: () => Promise<void>,
  system: Pick<System, 'sleep'>,
): Promise<Result> {
  const answered = new AbortController();
  const spilled = system.sleep(SLOW_MS, answered.signal).then(spill, () => undefined);
  try {
    return await settle();
  } finally {
    answered.abort();
    await spilled;
  }
}
