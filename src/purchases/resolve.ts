import { findSearchedAccount } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import { HostingError } from '../core/errors.ts';
import type { AccountNames, ServerId } from '../core/ids.ts';
import { isIdenticalLabel, isSameLabel } from '../core/labels.ts';
import { isDeleted, type Server, type ServerList } from '../core/server.ts';
import { DAY_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import {
  auditOfOperation,
  CLOCK_SLACK_MS,
  doubtedFor,
  isLookedFor,
  labelOf,
  type Operation,
  type Purchase,
  type UnconfirmedReason,
} from './operation.ts';

/**
 * Looks once for the outcome of an operation: one that is unconfirmed, or that was ended without proof. Ends it if the
 * outcome is certain. After long enough, or if the lookup is impossible, a manager has to decide, too (docs/design.md 4.8).
 * `lookedMs`: how long this process has looked for it by the monotonic clock.
 * Money effect: none; nothing is ever sent again.
 * @throws HostingError if the list can't be read
 */
export async function resolveUnconfirmed(operation: Operation, app: AppContext, lookedMs = 0): Promise<void> {
  const leave = (code: UnconfirmedReason['code']) => leaveToManager(operation, code, app);
  const doubtedMs = doubtedFor(operation, app.system.now());
  // A clock that was set back only leads to an earlier decision.
  const isOverdue =
    Math.max(doubtedMs, lookedMs) >= app.settings.unconfirmedMs || doubtedMs < -CLOCK_SLACK_MS;
  const account = await findSearchedAccount(operation, app);
  if (account.kind !== 'same') return leave(account.kind === 'none' ? 'no_api_key' : 'account_changed');
  const { hosting } = account;
  const how = { freshness: 'fresh', urgency: 'background' } as const;
  const list = await hosting.fetchServers(how).catch(async (error: unknown) => {
    if (error instanceof HostingError && error.code === 'unauthorized') await leave('key_rejected');
    else if (isOverdue) await leave('not_found_yet');
    throw error;
  });
  const verdict = await judgeBy(list, operation, hosting, app);
  const isSettled = verdict.kind === 'done' && (await settle(operation, verdict, app));
  if (isSettled) return;
  // Another order may have made what was found.
  if (verdict.kind !== 'nothing_yet') await leave('contradiction');
  else if (isOverdue) await leave('not_found_yet');
}

async function judgeBy(
  list: ServerList,
  operation: Operation,
  { account }: HostingApi,
  app: AppContext,
): Promise<Verdict> {
  const { ledger } = app;
  const { workspaceId, knownIds } = operation;
  const newIds = list.servers.map(({ id }) => id).filter((id) => !knownIds.includes(id));
  // An id that an earlier account of this workspace gave out may be another server here: never claimed by itself.
  const othersIds = await ledger.listSettledIds(account, newIds, workspaceId);
  const hasRival = await findRival(operation, account, app);
  return judge(operation, { list, othersIds, hasRival, now: app.system.now() });
}

/** Whether another order may have made what is found: of the same label, or of the same server's months since. */
async function findRival(
  operation: Operation,
  account: AccountNames,
  { ledger }: AppContext,
): Promise<boolean> {
  const { id, purchase, workspaceId, createdAt } = operation;
  if (purchase.kind === 'create') {
    const creates = await ledger.listUnresolvedCreates(account, workspaceId);
    return creates.some(
      (other) => other.id !== id && isSameLabel(labelOf(other.purchase), labelOf(purchase)),
    );
  }
  const renewals = await ledger.listRenewals(account, workspaceId, purchase.serverId);
  return renewals.some((other) => {
    if (other.id === id) return false;
    // One that was ended without proof no longer holds its month.
    if (other.workspaceId !== workspaceId && mayHavePaid(purchase.paidUntil, other)) return true;
    return operation.state !== 'unconfirmed' && other.createdAt >= createdAt;
  });
}

function mayHavePaid(paidUntil: number, other: Operation): boolean {
  const { purchase, state } = other;
  if (purchase.kind !== 'renew' || purchase.paidUntil !== paidUntil) return false;
  return state === 'sent' || state === 'settled' || isLookedFor(other);
}

async function settle(
  operation: Operation,
  { kind: _, ...found }: Extract<Verdict, { kind: 'done' }>,
  app: AppContext,
): Promise<boolean> {
  const isLate = operation.state === 'refused';
  const audit = auditOfOperation(operation, app, 'done', {
    serverId: found.serverId,
    surface: 'background',
    ...(isLate && { code: 'found_late' }),
  });
  return app.ledger.settle(operation.id, { at: app.system.now(), ...found, isLate }, audit);
}

/** Once: what was ended, or waits for a decision, stays as it is. */
async function leaveToManager(
  operation: Operation,
  code: UnconfirmedReason['code'],
  app: AppContext,
): Promise<void> {
  if (operation.state !== 'unconfirmed' || operation.needsDecision) return;
  const audit = auditOfOperation(operation, app, 'in_doubt', { code, surface: 'background' });
  await app.ledger.markNeedsDecision(operation.id, audit, { code, details: {} });
}

/** What a list of servers proves about an operation whose outcome is not known. */
type Verdict =
  | { readonly kind: 'done'; readonly serverId: ServerId; readonly paidUntil?: number }
  | { readonly kind: 'nothing_yet' }
  /** Something fits, but not beyond doubt: a manager has to look. */
  | { readonly kind: 'contradictory' };

interface Evidence {
  readonly list: ServerList;
  /** Servers that other orders have created. */
  readonly othersIds: readonly ServerId[];
  /** Whether another order may have done the same: of the same label, or a later one of the same server. */
  readonly hasRival: boolean;
  readonly now: number;
}

/** The fewest and most days after which a purchased month may end, however the service counts them. */
const SHORTEST_MONTH_MS = 20 * DAY_MS;
const LONGEST_MONTH_MS = 40 * DAY_MS;

const NOTHING_YET = { kind: 'nothing_yet' } as const;
const CONTRADICTORY = { kind: 'contradictory' } as const;

/** Judges whether an operation was done after all. From a list that is not complete, nothing follows. Pure. */
export function judge(operation: Operation, evidence: Evidence): Verdict {
  if (evidence.list.extent !== 'whole') return NOTHING_YET;
  const { purchase } = operation;
  return purchase.kind === 'create'
    ? judgeCreate(operation, purchase.order.label, evidence)
    : judgeRenewal(purchase, evidence);
}

/** New servers that no other order has created: the one that an operation has made is among them. */
export function listNewServers(
  { knownIds }: Operation,
  { servers }: ServerList,
  othersIds: readonly ServerId[],
): readonly Server[] {
  return servers.filter(
    (server) => !knownIds.includes(server.id) && !othersIds.includes(server.id) && !isDeleted(server),
  );
}

function judgeCreate(
  operation: Operation,
  label: string,
  { list, othersIds, hasRival, now }: Evidence,
): Verdict {
  const [mine, ...more] = listNewServers(operation, list, othersIds).filter((server) =>
    isSameLabel(server.label, label),
  );
  if (!mine) return NOTHING_YET;
  // What was never marked as sent here has no IDs from before: any server may be older than the order.
  const isCertain =
    operation.sentAt !== undefined &&
    more.length === 0 &&
    !hasRival &&
    isIdenticalLabel(mine.label, label) &&
    isMonthBoughtSince(operation, mine, now);
  return isCertain ? { kind: 'done', serverId: mine.id } : CONTRADICTORY;
}

/** The month may have begun at any time since it was ordered: a supplier that checks has no deadline. */
function isMonthBoughtSince({ sentAt, createdAt }: Operation, { paidUntil }: Server, now: number): boolean {
  if (paidUntil === undefined) return false;
  const from = sentAt ?? createdAt;
  return paidUntil >= from + SHORTEST_MONTH_MS && paidUntil <= Math.max(from, now) + LONGEST_MONTH_MS;
}

function judgeRenewal(
  { serverId, paidUntil }: Extract<Purchase, { kind: 'renew' }>,
  { list, hasRival }: Evidence,
): Verdict {
  const server = list.servers.find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) return CONTRADICTORY;
  if (server.paidUntil === undefined || server.paidUntil < paidUntil) return CONTRADICTORY;
  if (server.paidUntil === paidUntil) return NOTHING_YET;
  return hasRival ? CONTRADICTORY : { kind: 'done', serverId, paidUntil: server.paidUntil };
}
