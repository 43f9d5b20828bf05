import type { Transaction } from 'kysely';
import type { Ledger, Versions } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { CLOCK_SLACK_MS } from '../../domain/operation.ts';
import { addAudit } from '../account/audit.ts';
import { readVersions } from '../account/versions.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { holdsLock } from '../locks.ts';
import { LOOKED_FOR, type StoredState, toStoredState } from './ledger-rows.ts';
import { toReasonColumns } from './parse-reason.ts';
import { sealAnswer } from './sealed-answers.ts';

type Moves = Pick<
  Ledger,
  'markSent' | 'refuse' | 'markUnconfirmed' | 'markNeedsDecision' | 'markNotified' | 'addLooked'
>;

/**
 * The changes of an operation's state. Each names the states that it may start from in its own UPDATE: of two that race,
 * one happens, and only that one is audited.
 */
export function createLedgerMoves(foundation: Foundation): Moves {
  const { db } = foundation;
  return {
    markSent: (id, sent) => db.transaction().execute((trx) => markSent(trx, id, sent)),
    refuse: (id, refused, audit) => refuse(foundation, id, refused, audit),
    markUnconfirmed: (id, { dueAt, reason, sealedAnswer }, audit) =>
      moveAudited(foundation, id, ['sent'], audit, {
        ...toReasonColumns(reason),
        ...omitUndefined({
          sealed_answer:
            sealedAnswer && sealAnswer(foundation, { id, workspaceId: audit.workspaceId }, sealedAnswer),
        }),
        state: 'in_doubt',
        told_at: 0,
        due_at: dueAt,
      }),
    markNeedsDecision: async (id, audit, reason) => {
      const why = reason === undefined ? {} : toReasonColumns(reason);
      const change = { ...why, needs_person: 1, told_at: 0, due_at: audit.at };
      await moveAudited(foundation, id, ['in_doubt'], audit, change);
    },
    markNotified: (notified, at) => markNotified(db, notified, at),
    addLooked: async (id, ms) => {
      await db
        .updateTable('operations')
        .set((column) => ({ looked_ms: column('looked_ms', '+', Math.round(ms)) }))
        .where('id', '=', id)
        .execute();
    },
  };
}

/** An attempt that proved that it did nothing says so of itself alone: another owner's may have paid. */
async function refuse(
  foundation: Foundation,
  id: ConfirmationId,
  { at, reason, owner, decidedBy }: Parameters<Ledger['refuse']>[1],
  audit: AuditEntry,
): Promise<boolean> {
  const change = {
    ...ended(at),
    ...toReasonColumns(reason),
    ...omitUndefined({ decided_by: decidedBy }),
    state: 'refused',
    claim: '',
  } as const;
  return foundation.db.transaction().execute(async (trx) => {
    const sender = await trx
      .selectFrom('operations')
      .select('sent_by')
      .where('id', '=', id)
      .executeTakeFirst();
    const isOwn = owner !== undefined && sender?.sent_by === owner;
    const from: StoredState[] = ['prepared'];
    if (isOwn) from.push('sent');
    if (isOwn || decidedBy !== undefined) from.push('in_doubt');
    if (!(await move(trx, id, from, change))) return false;
    await addAudit(trx, foundation, audit);
    return true;
  });
}

/**
 * Only the owner that sent a request may send it again: to any other one it counts as sent. A clock that was set back
 * shortens the time to send, and never makes it longer.
 */
async function markSent(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  { at, owner, account, knownIds, versions, lock }: Parameters<Ledger['markSent']>[1],
): ReturnType<Ledger['markSent']> {
  if (lock && !(await holdsLock(trx, lock))) return 'refused';
  if (!(await isCurrent(trx, id, versions))) return 'outdated';
  const row = await trx
    .updateTable('operations')
    .set((column) => ({
      state: 'sent',
      sent_at: at,
      sent_by: owner,
      account,
      attempt: column('attempt', '+', 1),
      known_ids: JSON.stringify(knownIds),
    }))
    .where('id', '=', id)
    .where((column) =>
      column.or([
        column.and([
          column('state', '=', 'prepared'),
          column('send_by', '>=', at),
          column('created_at', '<=', at + CLOCK_SLACK_MS),
        ]),
        column.and([column('state', '=', 'sent'), column('sent_by', '=', owner)]),
      ]),
    )
    .where('lease_owner', '=', owner)
    .where('lease_until', '>', at)
    .returning('id')
    .executeTakeFirst();
  return row === undefined ? 'refused' : 'sent';
}

/** Held until the transaction ends: who changes the key, a role or the settings then comes before it or after it. */
async function isCurrent(trx: Transaction<Tables>, id: ConfirmationId, looked: Versions): Promise<boolean> {
  const row = await trx
    .selectFrom('operations')
    .select('workspace_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return true;
  await lockWorkspace(trx, row.workspace_id);
  const now = await readVersions(trx, row.workspace_id);
  return now.key === looked.key && now.access === looked.access && now.settings === looked.settings;
}

/** Changes nothing when the operation has moved on since: its actor still has to be notified of the new state. */
async function markNotified(
  db: Queries,
  notified: Parameters<Ledger['markNotified']>[0],
  at: number,
): Promise<void> {
  await db
    .updateTable('operations')
    .set((column) => ({
      told_at: at,
      due_at: column
        .case()
        .when(
          column.or([
            column('state', '=', 'settled'),
            column.and([column('state', '=', 'refused'), column('reason', 'not in', LOOKED_FOR)]),
          ]),
        )
        .then(null)
        .else(column.ref('due_at'))
        .end(),
    }))
    .where('id', '=', notified.id)
    .where('state', '=', toStoredState(notified.state))
    .where('needs_person', '=', notified.needsDecision ? 1 : 0)
    .where('has_password', '=', notified.hasPassword ? 1 : 0)
    .where('told_at', '=', 0)
    .execute();
}

/** An ended operation is due at once: its actor has to be notified. */
export function ended(at: number) {
  return { ended_at: at, told_at: 0, due_at: at, needs_person: 0 };
}

/** Moves an operation on from one of these states; undefined when it is in another one. */
export async function move(
  db: Queries,
  id: ConfirmationId,
  from: readonly StoredState[],
  change: Partial<OperationRow>,
): Promise<OperationRow | undefined> {
  return (
    db
      .updateTable('operations')
      .set(change)
      .where('id', '=', id)
      .where('state', 'in', from)
      // An operation is left to a manager once; ending it takes that back.
      .$if(change.needs_person === 1, (update) => update.where('needs_person', '=', 0))
      .returningAll()
      .executeTakeFirst()
  );
}

async function moveAudited(
  foundation: Foundation,
  id: ConfirmationId,
  from: readonly StoredState[],
  audit: AuditEntry,
  change: Partial<OperationRow>,
): Promise<boolean> {
  return foundation.db.transaction().execute(async (trx) => {
    if (!(await move(trx, id, from, change))) return false;
    await addAudit(trx, foundation, audit);
    return true;
  });
}
