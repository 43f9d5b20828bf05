import { HostingError } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { isLookedFor, labelOf, type Operation } from '../../domain/operation.ts';
import type { UnconfirmedReason } from '../../domain/outcome.ts';
import type { ServerList } from '../../domain/server.ts';
import { findSearchedAccount } from '../account/confirmed-account.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import { auditOfOperation } from './audit-operation.ts';
import { judge, type Verdict } from './judge-unconfirmed.ts';

/**
 * Looks once for the outcome of an operation: one that is unconfirmed, or that was ended without proof. Ends it if the
 * outcome is certain. After long enough, or if the lookup is impossible, a manager has to decide, too (docs/design.md 4.8).
 * `passedMs` is the time since the last look. Money effect: none; nothing is ever sent again.
 * @throws HostingError if the list can't be read
 */
export async function resolveUnconfirmed(
  operation: Operation,
  passedMs: number,
  app: AppContext,
): Promise<void> {
  await app.ledger.addLooked(operation.id, passedMs);
  const isOverdue = operation.lookedMs + passedMs >= app.settings.unconfirmedMs;
  const account = await findSearchedAccount(operation, app);
  if (account.kind !== 'same') {
    const code = account.kind === 'none' ? 'no_api_key' : 'account_changed';
    await leaveToManager(operation, { code, details: {} }, app);
    return;
  }
  const { hosting } = account;
  const list = await fetchServers(operation, hosting, isOverdue, app);
  // What another workspace's order has made in this account proves nothing about this one.
  await app.accountRecognition.recognize(hosting, list.servers);
  const verdict = await judgeBy(list, operation, hosting, app);
  if (verdict.kind === 'done') await settle(operation, verdict, app);
  else if (verdict.kind === 'contradictory') await leaveToManager(operation, CONTRADICTION, app);
  else if (isOverdue) await leaveToManager(operation, NOT_FOUND_YET, app);
}

const CONTRADICTION = { code: 'contradiction', details: {} } as const;
const NOT_FOUND_YET = { code: 'not_found_yet', details: {} } as const;

function fetchServers(
  operation: Operation,
  hosting: HostingApi,
  isOverdue: boolean,
  app: AppContext,
): Promise<ServerList> {
  return hosting.fetchServers({ freshness: 'fresh', urgency: 'background' }).catch(async (error: unknown) => {
    const isRejected = error instanceof HostingError && error.code === 'unauthorized';
    if (isRejected) await leaveToManager(operation, { code: 'key_rejected', details: {} }, app);
    else if (isOverdue) await leaveToManager(operation, NOT_FOUND_YET, app);
    throw error;
  });
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
  const verdict = judge(operation, { list, othersIds, hasRival, now: app.system.now() });
  const isDoubtful = verdict.kind === 'done' && (await isMadeElsewhere(verdict.serverId, operation, app));
  return isDoubtful ? { kind: 'contradictory' } : verdict;
}

/**
 * Whether an order with another key was given a server of that ID and label: it may be the same one, although it is not proven
 * that both keys open one account.
 */
async function isMadeElsewhere(
  serverId: ServerId,
  { id, purchase }: Operation,
  { ledger }: AppContext,
): Promise<boolean> {
  if (purchase.kind !== 'create') return false;
  const makers = await ledger.listMakers(serverId);
  return makers.some((other) => other.id !== id && isSameLabel(labelOf(other.purchase), labelOf(purchase)));
}

/** Whether another order may have made what is found: of the same label, or of the same server's months since. */
async function findRival(operation: Operation, account: string, { ledger }: AppContext): Promise<boolean> {
  const { id, purchase, workspaceId, createdAt } = operation;
  if (purchase.kind === 'create') {
    if (await ledger.hasNewer(workspaceId)) return true;
    const creates = await ledger.listUnresolvedCreates(account, workspaceId);
    return creates.some(
      (other) => other.id !== id && isSameLabel(labelOf(other.purchase), labelOf(purchase)),
    );
  }
  const renewals = await ledger.listRenewals(account, workspaceId, purchase.serverId);
  return renewals.some((other) => {
    if (other.id === id) return false;
    // One that is unconfirmed holds its month in this workspace; another one may have confirmed it before it was known to
    // have the same account.
    if (other.workspaceId !== workspaceId && mayHavePaid(purchase.paidUntil, other)) return true;
    return operation.state !== 'unconfirmed' && other.createdAt >= createdAt;
  });
}

/** Whether a renewal may have moved the date on from this one. */
function mayHavePaid(paidUntil: number, other: Operation): boolean {
  const { purchase, state } = other;
  if (purchase.kind !== 'renew' || purchase.paidUntil !== paidUntil) return false;
  return state === 'sent' || state === 'settled' || isLookedFor(other);
}

async function settle(
  operation: Operation,
  { kind: _, ...found }: Extract<Verdict, { kind: 'done' }>,
  app: AppContext,
): Promise<void> {
  const isLate = operation.state === 'refused';
  const audit = auditOfOperation(operation, app, 'done', {
    serverId: found.serverId,
    surface: 'background',
    ...(isLate && { code: 'found_late' }),
  });
  await app.ledger.settle(operation.id, { at: app.system.now(), ...found, isLate }, audit);
}

/** Once: what was ended, or waits for a decision, stays as it is. */
async function leaveToManager(
  operation: Operation,
  reason: UnconfirmedReason,
  app: AppContext,
): Promise<void> {
  if (operation.state !== 'unconfirmed' || operation.needsDecision) return;
  const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code, surface: 'background' });
  await app.ledger.markNeedsDecision(operation.id, audit, reason);
}
