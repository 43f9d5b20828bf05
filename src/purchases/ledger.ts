import type { Transaction } from 'kysely';
import { listNamesOfKey } from '../account/keys.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { AccountNames, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import type { Secret } from '../core/secret.ts';
import { addAudit } from '../db/audit.ts';
import { type Foundation, lockWorkspace, type Queries } from '../db/database.ts';
import { addJob, holdsJob } from '../db/jobs.ts';
import { refuseFromBeforeRestore } from '../db/moves.ts';
import type { OperationRow, Tables } from '../db/tables.ts';
import type { DeleteOperation, DeleteReason, NewDelete } from '../servers/deletion.ts';
import { type Budget, type Excess, findExcess, type Spent, sumSpent } from './costs.ts';
import {
  CLOCK_SLACK_MS,
  countSends,
  createLedgerLists,
  findRow,
  isOfAccount,
  labelOf,
  type NewOperation,
  type NewOperationRow,
  OPERATION,
  type Operation,
  type OperationRefusal,
  parsePurchase,
  toOperation,
  toReasonColumns,
  toRow,
  type UnconfirmedReason,
} from './operation.ts';
import { keepAnswer, keepPassword, openAnswer, UNKNOWN_SERVER } from './password-store.ts';

export type Ledger = ReturnType<typeof createLedger>;

/** The settings, the key and the grants that permit a payment, as text: of two that are equal, none has changed. */
export type Permit = string;

export type Prepared =
  | { readonly kind: 'new' | 'known'; readonly operation: Operation }
  | ({ readonly kind: 'over_budget' } & Excess);

interface Sent {
  readonly at: number;
  readonly owner: string;
  readonly account: AccountNames;
  /** Of a create: the servers that existed at the look, and `countSends` from before it. */
  readonly knownIds?: readonly ServerId[] | undefined;
  readonly earlierSends?: number | undefined;
  readonly permit: Permit;
}

export interface Settled {
  readonly at: number;
  /** Absent when a manager has seen it done in an account that is not connected any more. */
  readonly serverId?: ServerId;
  readonly paidUntil?: number;
  readonly password?: Secret<string>;
  /** It is the API's own answer, not what was concluded from a list. */
  readonly isFirstHand?: boolean;
  /** It was found after it had been refused without proof: only such an operation is settled by this. */
  readonly isLate?: boolean;
  readonly decidedBy?: UserId;
}

interface Refused {
  readonly at: number;
  readonly reason: OperationRefusal | DeleteReason;
  /** Who had the proof. */
  readonly owner?: string;
  readonly decidedBy?: UserId;
}

/**
 * The ledger: purchases and deletes (docs/design.md 4). Every method is one durable transaction. What lists, finds or adds up
 * speaks of purchases alone, unless its name says otherwise; the changes of a state are the same for both. Each of those names
 * the states that it may start from in its own UPDATE: of two that race, one happens, and only that one is audited.
 */
export function createLedger(foundation: Foundation) {
  const { db, engine } = foundation;
  const transact = <Result>(work: (trx: Transaction<Tables>) => Promise<Result>) => engine.transact(db, work);
  return {
    ...createLedgerLists(foundation),
    /** What the database says at that time about whether an order of this workspace may be paid, for `markSent` to compare. */
    readPermit: (workspaceId: WorkspaceId, at: number): Promise<Permit> => readPermit(db, workspaceId, at),
    sumSpent: (workspaceId: WorkspaceId, actorId: UserId, since: number): Promise<Spent> =>
      sumSpent(db, workspaceId, actorId, since),
    /**
     * Writes a confirmation. When the same ID was written before, or an operation that was not refused has the same claim
     * (the same month of the same server), that one is returned instead, unless it is another workspace's.
     * What it would spend is compared with the budget in the same transaction: over it, nothing is written. Money effect: none yet.
     * @throws Refusal `restored`
     */
    prepare: (operation: NewOperation, budget?: Budget): Promise<Prepared> =>
      transact((trx) => prepareOperation(trx, foundation, operation, budget)),
    /**
     * Writes a confirmed delete, with the beginning of its act in the audit. False if that ID was confirmed before.
     * Money effect: none yet; once it is sent, the rest of the paid month is lost.
     * @throws Refusal `restored`
     */
    confirmDelete: (confirmed: NewDelete): Promise<boolean> =>
      transact((trx) => prepareDelete(trx, foundation, confirmed)),
    /** Ends an unconfirmed delete, of which nothing more can be found out: it stays unconfirmed. */
    closeDelete: async (id: ConfirmationId, at: number): Promise<void> => {
      const open = db.updateTable('operations').set({ ended_at: at }).where('id', '=', id);
      await open.where('kind', '=', 'delete').where('state', '=', 'unconfirmed').execute();
    },
    /**
     * prepared → sent, committed before the request leaves; each retry of the same owner is a new attempt. `refused` when
     * it has ended, when its send-by time has passed (for a retry, too) or the clock was set back, when another owner sent it
     * or has its job. `outdated` when the permit is not that of now, when another create of the account was sent since the look of
     * this one, or when an order of the account, of any workspace, is in its way: a create that is sent and has no outcome yet, an
     * unconfirmed one of the same label, a renewal of the same month that was sent.
     * @throws CommitUnknown when it may be marked: then nothing may be sent, and its owner has to refuse it (docs/design.md 4.2);
     * and what else the database throws
     */
    markSent: async (id: ConfirmationId, sent: Sent): Promise<'sent' | 'refused' | 'outdated'> => {
      try {
        return await transact((trx) => markSent(trx, foundation, id, sent));
      } catch (error) {
        if (error instanceof OtherInTheWay) return 'outdated';
        throw error;
      }
    },
    /**
     * sent | unconfirmed → settled, with the sealed password and the audit entry in the same transaction.
     * The API's own answer, however late, also corrects what others concluded without it: a refusal, or a
     * settlement that had no password. Otherwise false when another create of the account has made this server, and, unless a
     * manager decided, also when one of any account may have: one with the same label that has this ID or is being sent.
     */
    settle: (id: ConfirmationId, settled: Settled, audit: AuditEntry): Promise<boolean> =>
      transact(async (trx) => {
        const { at, serverId, paidUntil } = settled;
        const before = await findRow(trx, id);
        if (!settled.isFirstHand && (await hasMadeServer(trx, foundation, before, settled))) return false;
        // Or what came with an earlier answer that proved nothing.
        const password = settled.password ?? (before && openAnswer(foundation, before));
        const change = {
          ...ended(at),
          server_id: serverId,
          is_late: before?.state === 'refused' ? 1 : 0,
          sealed_answer: null,
          state: 'settled',
          paid_until: paidUntil ?? null,
          // The API's own answer replaces a decision that it was done. That it wasn't is what the late outcome is compared with.
          ...(before?.state !== 'refused' && { decided_by: settled.decidedBy ?? null }),
          has_password: password ? 1 : 0,
          reason: null,
          reason_details: null,
        } as const;
        // As `isOnlyDecided`.
        const isDecided = Boolean(before?.decided_by) && before?.paid_until === null && before.is_late === 0;
        const from = listOrigins(settled, { lacksPassword: before?.has_password === 0, isDecided });
        const row = await move(trx, foundation, id, from, change, audit);
        if (!row) return false;
        if (password)
          await keepPassword(trx, foundation, row, { at, serverId: serverId ?? UNKNOWN_SERVER, password });
        return true;
      }),
    /**
     * prepared | sent | unconfirmed → refused. Releases its claim: the same month can be confirmed again. What was sent is
     * refused only by its own sender's proof; what is unconfirmed, by that or by a manager's decision.
     */
    refuse: (id: ConfirmationId, refused: Refused, audit: AuditEntry): Promise<boolean> =>
      transact(async (trx) => {
        const { at, reason, owner, decidedBy } = refused;
        // An attempt that proved that it did nothing says so of itself alone: another owner's may have paid.
        const isOwn = owner !== undefined && (await findRow(trx, id))?.sent_by === owner;
        const from: Operation['state'][] = ['prepared'];
        if (isOwn) from.push('sent');
        if (isOwn || decidedBy !== undefined) from.push('unconfirmed');
        const end = { ...ended(at), state: 'refused', decided_by: decidedBy, claim: '' } as const;
        const row = await move(trx, foundation, id, from, { ...end, ...toReasonColumns(reason) }, audit);
        return row !== undefined;
      }),
    /**
     * sent, or prepared where the database has lost the mark, → unconfirmed. `sealedAnswer`: what came and could not be used, for its
     * creator when the server is found.
     */
    markUnconfirmed: (
      id: ConfirmationId,
      unconfirmed: {
        readonly reason: UnconfirmedReason | DeleteReason;
        readonly sealedAnswer?: Secret<string>;
      },
      audit: AuditEntry,
    ): Promise<boolean> =>
      transact(async (trx) => {
        const { reason, sealedAnswer } = unconfirmed;
        const change = { ...toReasonColumns(reason), state: 'unconfirmed', told_at: 0 } as const;
        const row = await move(trx, foundation, id, ['sent', 'prepared'], change, audit);
        if (row && sealedAnswer) await keepAnswer(trx, foundation, id, sealedAnswer, audit.at);
        return row !== undefined;
      }),
    /**
     * Keeps an unclear answer to a create that came after its operation had left `sent`: until a server is found, or as
     * the password of one that was found without it. It may hold a root password that exists nowhere else.
     */
    keepAnswer: (id: ConfirmationId, answer: Secret<string>, at: number): Promise<void> =>
      transact((trx) => keepAnswer(trx, foundation, id, answer, at)),
    /** Leaves an unconfirmed operation to a manager, once, and says why; the app keeps looking for it. */
    markNeedsDecision: async (
      id: ConfirmationId,
      audit: AuditEntry,
      reason?: UnconfirmedReason,
    ): Promise<void> => {
      const change = { ...(reason && toReasonColumns(reason)), needs_person: 1, told_at: 0 };
      await transact((trx) => move(trx, foundation, id, ['unconfirmed'], change, audit));
    },
    /**
     * The actor was notified of this state; ended operations are not due any more. When it has moved on since,
     * the actor still has to be notified of the new state.
     */
    markNotified: async (notified: Operation | DeleteOperation, at: number): Promise<void> => {
      await db
        .updateTable('operations')
        .set({ told_at: at })
        .where('id', '=', notified.id)
        .where('state', '=', notified.state)
        .where('needs_person', '=', notified.needsDecision ? 1 : 0)
        .where('has_password', '=', notified.hasPassword ? 1 : 0)
        .where('decided_by', notified.decidedBy === undefined ? 'is' : '=', notified.decidedBy ?? null)
        .where('told_at', '=', 0)
        .execute();
    },
  };
}

/** The process that takes a confirmation pays it at once; another one does if that process has died by then. */
const RESUME_MS = 2000;
/** The first look at an unconfirmed operation comes within 3 s (docs/design.md 4.8). */
const FIRST_LOOK_MS = 1500;

function askFor(
  trx: Queries,
  foundation: Foundation,
  { id, workspace_id: workspaceId }: OperationRow,
  waitMs: number,
): Promise<void> {
  const dueAt = foundation.engine.clock.now() + waitMs;
  return addJob(trx, foundation, { kind: OPERATION, key: id, workspaceId, dueAt });
}

export async function prepareOperation(
  trx: Transaction<Tables>,
  foundation: Foundation,
  operation: NewOperation,
  budget: Budget | undefined,
): Promise<Prepared> {
  const { workspaceId, actorId, price, account } = operation;
  await lockWorkspace(trx, workspaceId);
  const names = await listNamesOfKey(trx, foundation.vault, workspaceId);
  const row = toRow(operation, account ?? names[0] ?? '');
  const earlier = await findEarlier(trx, row);
  if (earlier) return { kind: 'known', operation: toOperation(earlier) };
  const excess = budget && findExcess(budget, await sumSpent(trx, workspaceId, actorId, budget.since), price);
  if (excess) return { kind: 'over_budget', ...excess };
  const inserted = await insertFirst(trx, foundation, row);
  const stored = inserted ?? (await findEarlier(trx, row));
  if (!stored) throw new Error('the operation that conflicted with a confirmation has gone');
  return { kind: inserted ? 'new' : 'known', operation: toOperation(stored) };
}

/** Writes a row with its job; undefined if it conflicts with one that was written before. @throws Refusal `restored` */
async function insertFirst(
  trx: Transaction<Tables>,
  foundation: Foundation,
  row: NewOperationRow,
): Promise<OperationRow | undefined> {
  const inserted = await trx
    .insertInto('operations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!inserted) return undefined;
  await refuseFromBeforeRestore(trx, inserted.id);
  await askFor(trx, foundation, inserted, RESUME_MS);
  return inserted;
}

export async function prepareDelete(
  trx: Transaction<Tables>,
  foundation: Foundation,
  confirmed: NewDelete,
): Promise<boolean> {
  const { id, workspaceId, actorId, channelId, deletion, at } = confirmed;
  await lockWorkspace(trx, workspaceId);
  const names = await listNamesOfKey(trx, foundation.vault, workspaceId);
  const row = toRow({ ...confirmed, purchase: deletion }, confirmed.account ?? names[0] ?? '');
  if (!(await insertFirst(trx, foundation, row))) return false;
  const act = { actId: id, operationId: id, action: 'delete', surface: 'modal', outcome: 'started' } as const;
  const { serverId, label } = deletion;
  await addAudit(trx, foundation, { at, workspaceId, actorId, channelId, ...act, serverId, label });
  return true;
}

/** Finds the operation that an insert conflicts with: the one with the same ID or the same claim. */
async function findEarlier(
  trx: Transaction<Tables>,
  row: NewOperationRow,
): Promise<OperationRow | undefined> {
  const sameId = await findRow(trx, row.id);
  if (sameId && sameId.workspace_id !== row.workspace_id)
    throw new Error('the ID of a confirmation belongs to another workspace');
  if (sameId || row.claim === '') return sameId;
  return trx
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', row.workspace_id)
    .where('claim', '=', row.claim)
    .executeTakeFirst();
}

/**
 * Only the owner that sent a request may send it again: to any other one it counts as sent. A clock that was set back
 * shortens the time to send, and never makes it longer.
 */
async function markSent(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  { at, owner, account, knownIds = [], earlierSends, permit }: Sent,
): Promise<'sent' | 'refused' | 'outdated'> {
  const { engine } = foundation;
  if (!(await holdsJob(trx, foundation, { kind: OPERATION, key: id, owner }, at))) return 'refused';
  // A change of the key, a grant or the settings comes either before this lock, and is seen, or after it. What is left of a budget
  // shrinks only by orders that are prepared under the same lock, and those count this one.
  const before = await findRow(trx, id);
  if (before) await lockWorkspace(trx, before.workspace_id);
  if (before && (await readPermit(trx, before.workspace_id, at)) !== permit) return 'outdated';
  // What another create has made since would be taken for this one's server.
  if (before?.kind === 'create' && (await countSends(trx, before, account)) !== earlierSends)
    return 'outdated';
  const row = await trx
    .updateTable('operations')
    .set((column) => ({
      state: 'sent',
      sent_at: at,
      sent_by: owner,
      account: account[0],
      attempt: column('attempt', '+', 1),
      known_ids: JSON.stringify(knownIds),
    }))
    .where('id', '=', id)
    .where((column) =>
      column.or([
        column('state', '=', 'prepared'),
        column.and([column('state', '=', 'sent'), column('sent_by', '=', owner)]),
      ]),
    )
    // Also for a request that is sent again: a retry may have waited for minutes.
    .where('send_by', '>=', engine.moment(at, at))
    .where('created_at', '<=', engine.moment(at + CLOCK_SLACK_MS, at))
    .returningAll()
    .executeTakeFirst();
  if (!row) return 'refused';
  if (await isInTheWay(trx, row, account)) throw new OtherInTheWay();
  return 'sent';
}

/** Thrown to undo the transaction, because another order is in the way. */
class OtherInTheWay extends Error {}

/** Reads the settings, the sealed key and the IDs of all the workspace's grants. A grant that is changed gets another ID. */
async function readPermit(db: Queries, workspaceId: WorkspaceId, at: number): Promise<Permit> {
  const stored = await db
    .selectFrom('workspaces')
    .leftJoin('api_keys', 'api_keys.workspace_id', 'workspaces.id')
    .select(['settings', 'sealed'])
    .where('id', '=', workspaceId)
    .executeTakeFirst();
  const grants = await db
    .selectFrom('grants')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where((column) => column.or([column('temporary_role', '=', ''), column('until', '>', at)]))
    .orderBy('id')
    .execute();
  return JSON.stringify([stored, grants]);
}

const OPEN = ['sent', 'unconfirmed'] as const;

/**
 * The API's own answer also corrects a refusal, a settlement by a decision, and one from a list that had no password (docs/design.md
 * 4.6). It even proves that an order was sent whose `sent` the database has lost.
 */
function listOrigins(
  { isFirstHand = false, isLate = false, password }: Settled,
  { lacksPassword, isDecided }: { readonly lacksPassword: boolean; readonly isDecided: boolean },
): readonly Operation['state'][] {
  if (isLate) return ['refused'];
  if (!isFirstHand) return OPEN;
  return [
    'prepared',
    ...OPEN,
    'refused',
    ...(lacksPassword && (password !== undefined || isDecided) ? ['settled' as const] : []),
  ];
}

/** The columns of an operation that has just ended. Its actor has to be notified. */
function ended(at: number) {
  return { ended_at: at, told_at: 0, needs_person: 0 };
}

/** Moves an operation on from one of these states, audited, and asks for its job; undefined when it is in another one. */
async function move(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  from: readonly Operation['state'][],
  change: Partial<OperationRow>,
  audit: AuditEntry,
): Promise<OperationRow | undefined> {
  const row = await trx
    .updateTable('operations')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', from)
    // An operation is left to a manager once; ending it takes that back.
    .$if(change.needs_person === 1, (update) => update.where('needs_person', '=', 0))
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  const waitMs = change.state === 'unconfirmed' ? FIRST_LOOK_MS : 0;
  await askFor(trx, foundation, row, waitMs);
  await addAudit(trx, foundation, audit);
  return row;
}

/**
 * Whether another order of this key, in any workspace, or of this workspace, with any key, stands in the way of sending this one
 * (docs/design.md 4.3).
 */
async function isInTheWay(
  trx: Transaction<Tables>,
  { id, kind, claim, purchase, workspace_id: workspaceId }: OperationRow,
  account: AccountNames,
): Promise<boolean> {
  const others = trx.selectFrom('operations').select(['state', 'purchase']).where('id', '<>', id);
  if (kind === 'create') {
    const label = labelOf(parsePurchase(purchase));
    const open = await others
      .where('kind', '=', 'create')
      .where('state', 'in', OPEN)
      .where((column) => isOfAccount(column, account, workspaceId))
      .execute();
    return open.some(
      (other) => other.state === 'sent' || isSameLabel(labelOf(parsePurchase(other.purchase)), label),
    );
  }
  // A delete blocks nothing, and nothing blocks it.
  if (kind !== 'renew' || claim === '') return false;
  // A process that doesn't know the newest encryption key yet finds no claim that was stored under a name made with it.
  const sameMonth = await others
    .where('claim', '=', claim)
    .where('account', 'in', account)
    .where('state', 'in', [...OPEN, 'settled'])
    .executeTakeFirst();
  return sameMonth !== undefined;
}

/**
 * Whether another create has made this server: one of the account or, unless a manager decided, one with the same label that has
 * this ID or is being sent. Its key may open the same account.
 */
async function hasMadeServer(
  trx: Transaction<Tables>,
  { vault }: Foundation,
  row: OperationRow | undefined,
  { serverId, decidedBy }: Settled,
): Promise<boolean> {
  if (serverId === undefined || row?.kind !== 'create') return false;
  const label = labelOf(parsePurchase(row.purchase));
  const names = [row.account, ...(await listNamesOfKey(trx, vault, row.workspace_id))];
  const others = await trx
    .selectFrom('operations')
    .select(['state', 'account', 'purchase'])
    .where('kind', '=', 'create')
    .where('id', '<>', row.id)
    .where((column) =>
      column.or([
        column('state', '=', 'sent'),
        column.and([column('state', '=', 'settled'), column('server_id', '=', serverId)]),
      ]),
    )
    .execute();
  return others.some(
    ({ state, account, purchase }) =>
      (state === 'settled' && account !== '' && names.includes(account)) ||
      (decidedBy === undefined && isSameLabel(labelOf(parsePurchase(purchase)), label)),
  );
}
