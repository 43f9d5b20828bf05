import type { Ledger } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { OperationRow } from '../engine/tables.ts';
import { holdsLock } from '../locks.ts';
import { type StoredState, toStoredState } from './ledger-rows.ts';
import { toReasonColumns } from './parse-reason.ts';

type Moves = Pick<Ledger, 'markSent' | 'refuse' | 'markUnconfirmed' | 'markNeedsDecision' | 'markNotified'>;

/**
 * The changes of an operation's state. Each names the states that it may start from in its own UPDATE: of two that race,
 * one happens, and only that one is audited.
 */
export function createLedgerMoves(foundation: Foundation): Moves {
  const { db } = foundation;
  return {
    markSent: (id, sent) => db.transaction().execute((trx) => markSent(trx, id, sent)),
    refuse: (id, { at, reason }, audit) =>
      moveAudited(foundation, id, ['prepared', 'sent', 'in_doubt'], audit, {
        ...ended(at),
        ...toReasonColumns(reason),
        state: 'refused',
        claim: '',
      }),
    markUnconfirmed: (id, { dueAt, reason }, audit) =>
      moveAudited(foundation, id, ['sent'], audit, {
        ...toReasonColumns(reason),
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
  };
}

/** Only the owner that sent a request may send it again: to any other one it counts as sent. */
async function markSent(
  trx: Queries,
  id: ConfirmationId,
  { at, owner, knownIds, lock }: Parameters<Ledger['markSent']>[1],
): Promise<boolean> {
  if (lock && !(await holdsLock(trx, lock))) return false;
  const row = await trx
    .updateTable('operations')
    .set((column) => ({
      state: 'sent',
      sent_at: at,
      sent_by: owner,
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
    .where('lease_owner', '=', owner)
    .where('lease_until', '>', at)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
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
        .when(column.or([column('state', 'in', ['settled', 'refused']), column('needs_person', '=', 1)]))
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
