import type { Transaction } from 'kysely';
import type { Ledger } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { LOOKED_FOR, type StoredState, toStoredState } from './ledger-rows.ts';
import { commitSent } from './ledger-sent.ts';
import { toReasonColumns } from './parse-reason.ts';
import { keepAnswer } from './sealed-answers.ts';

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
    markSent: (id, sent) => commitSent(foundation, id, sent),
    refuse: (id, refused, audit) => refuse(foundation, id, refused, audit),
    markUnconfirmed: (id, { dueAt, reason, sealedAnswer }, audit) => {
      const change = { ...toReasonColumns(reason), state: 'in_doubt', told_at: 0, due_at: dueAt } as const;
      return moveAudited(foundation, id, ['sent'], audit, change, async (trx) => {
        if (sealedAnswer) await keepAnswer(trx, foundation, id, sealedAnswer, audit.at);
      });
    },
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
    decided_by: decidedBy,
    state: 'refused',
    claim: '',
  } as const;
  return foundation.engine.transact(foundation.db, async (trx) => {
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
  andThen: (trx: Transaction<Tables>) => Promise<void> = async () => undefined,
): Promise<boolean> {
  return foundation.engine.transact(foundation.db, async (trx) => {
    if (!(await move(trx, id, from, change))) return false;
    await addAudit(trx, foundation, audit);
    await andThen(trx);
    return true;
  });
}
