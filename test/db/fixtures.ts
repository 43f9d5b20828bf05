import type { NewGrant } from '../../src/access/grants.ts';
import type { Store } from '../../src/context.ts';
import type { AuditEntry } from '../../src/core/audit-entry.ts';
import type { AccountNames } from '../../src/core/ids.ts';
import { money } from '../../src/core/money.ts';
import { WEEK_MS } from '../../src/core/time.ts';
import type { Lease } from '../../src/db/jobs.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import type { Ledger, Prepared } from '../../src/purchases/ledger.ts';
import { type NewOperation, OPERATION } from '../../src/purchases/operation.ts';
import {
  APPROVAL_MS,
  type ApprovalAction,
  type NewApproval,
  type NewRoleRequest,
} from '../../src/requests/request.ts';
import { createIds, realSystem, type System } from '../../src/system.ts';
import { makeKey } from '../support/environment.ts';

export const T0 = 1_790_000_000_000;

/** A clock that stands still, so that no order relies on time alone. */
export const stillSystem: System = {
  ...realSystem,
  now: () => T0,
  newId: createIds(() => T0, Math.random),
};

export const vault = createVault(parseKeyring(`test:${makeKey('store')}`));

export function newCreate(label = 'web-1', more: Partial<NewOperation> = {}): NewOperation {
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    actorId: 'U1',
    channelId: 'C1',
    purchase: { kind: 'create', order: { plan: 's1', location: 'ams', image: 'debian-12', label } },
    price: money(499),
    at: T0,
    ...more,
  };
}

export function newRenew(
  serverId = 7,
  paidUntil = T0 + 1000,
  more: Partial<NewOperation> = {},
): NewOperation {
  const purchase = { kind: 'renew' as const, serverId, label: 'web-1', paidUntil };
  return { id: stillSystem.newId(), workspaceId: 'T1', actorId: 'U1', purchase, at: T0, ...more };
}

type ApprovalFacts = Omit<NewApproval, 'kind'>;

/** Of the same purchase as `newCreate`, unless the facts are those of another action. */
export function newApproval(more: Partial<ApprovalFacts> | (Partial<ApprovalFacts> & ApprovalAction) = {}) {
  const { purchase } = newCreate();
  const { requestedAt = T0 } = more;
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    requesterId: 'U1',
    channelId: 'C1',
    isOverBudget: false,
    requestedAt,
    expiresAt: requestedAt + APPROVAL_MS,
    ...('kind' in more ? {} : { kind: 'purchase', purchase, price: money(499) }),
    ...more,
  } as NewApproval;
}

export function newDelete(serverId = 7): ApprovalAction {
  return { kind: 'delete', serverId, label: 'web-1' };
}

export function newRoleRequest(more: Partial<NewRoleRequest> = {}): NewRoleRequest {
  const { requestedAt = T0 } = more;
  return {
    kind: 'role',
    id: stillSystem.newId(),
    workspaceId: 'T1',
    requesterId: 'U1',
    channelId: 'C1',
    role: 'operator',
    pattern: '',
    reason: 'to réboot things',
    requestedAt,
    expiresAt: requestedAt + WEEK_MS,
    ...more,
  };
}

export function newGrant(more: Partial<NewGrant> = {}): NewGrant {
  return {
    workspaceId: 'T1',
    subjectKind: 'user',
    subjectId: 'U1',
    role: 'viewer',
    pattern: '',
    grantedBy: 'U9',
    grantedAt: T0,
    ...more,
  };
}

/** Stores a confirmation without a budget. */
export async function confirm(
  ledger: Ledger,
  operation: NewOperation,
): Promise<Extract<Prepared, { operation: unknown }>> {
  const prepared = await ledger.prepare(operation);
  if (prepared.kind === 'over_budget') throw new Error('no budget was given');
  return prepared;
}

export function entry(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: T0,
    workspaceId: 'T1',
    actorId: 'U1',
    surface: 'modal',
    action: 'create',
    actId: 'act',
    outcome: 'done',
    ...more,
  };
}

/** Takes the job of an operation, as a process that works on it does. Times in epoch milliseconds. */
export async function leaseOperation({ jobStore }: Pick<Store, 'jobStore'>, id: string, lease: Lease) {
  return (await jobStore.lease(OPERATION, id, lease)) !== undefined;
}

/** Marks an operation as sent, as a process does: by holding its lease. */
export async function markSent(
  store: Pick<Store, 'ledger' | 'jobStore'>,
  id: string,
  at: number,
  knownIds: readonly number[] = [],
  account: AccountNames = ['a'],
) {
  const { ledger } = store;
  await leaseOperation(store, id, { owner: 'sender', now: at, until: at + 1 });
  const workspaceId = (await ledger.find(id))?.workspaceId ?? '';
  const permit = await ledger.readPermit(workspaceId, at);
  const earlierSends = await ledger.countSends({ id, workspaceId }, account);
  const outcome = await ledger.markSent(
    id,
    sentBy('sender', at, { knownIds, account, permit, earlierSends }),
  );
  await store.jobStore.giveBack('sender');
  return outcome === 'sent';
}

/** Orders a server and settles the order; a password is held for whoever ordered. */
export async function settleCreate(
  store: Pick<Store, 'ledger' | 'jobStore'>,
  operation: NewOperation,
  settled: Partial<Parameters<Ledger['settle']>[1]>,
): Promise<string> {
  const { id, workspaceId } = operation;
  const { ledger } = store;
  await ledger.prepare(operation);
  await markSent(store, id, T0);
  await ledger.settle(id, { at: T0, ...settled }, entry({ workspaceId, operationId: id }));
  return id;
}

/** What permits an order of a workspace of which nothing is stored. */
const NOTHING_STORED = '[null,[]]';

/** What a process says when it marks an operation as sent: of a create, the first one of its account. */
export function sentBy(
  owner: string,
  at = T0,
  more: Partial<Parameters<Ledger['markSent']>[1]> = {},
): Parameters<Ledger['markSent']>[1] {
  return { at, owner, account: ['a'], knownIds: [], earlierSends: 0, permit: NOTHING_STORED, ...more };
}

/** Marks that the actor was notified of the operation's current state. */
export async function markTold(ledger: Ledger, id: string, at: number) {
  const operation = await ledger.find(id);
  if (!operation) throw new Error(`no operation ${id}`);
  await ledger.markNotified(operation, at);
}

/** Reasons that tests of the ledger use. */
export const NO_ANSWER = { code: 'no_answer', details: {} } as const;

export const ACCOUNT_CHANGED = { code: 'account_changed', details: {} } as const;

export const LIMIT = { code: 'limit', details: {} } as const;

export const NOT_DONE = { code: 'decided_not_done', details: {} } as const;
