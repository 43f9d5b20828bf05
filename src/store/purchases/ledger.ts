import type { Ledger } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { OperationState } from '../../domain/operation.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { OperationRow } from '../engine/tables.ts';
import { holdsLock } from '../locks.ts';
import { createLeases } from './leases.ts';
import { createLedgerLists } from './ledger-lists.ts';
import { prepareOperation } from './ledger-prepare.ts';
import { toOperation } from './ledger-rows.ts';
import { keepPassword } from './passwords.ts';
import { sumSpent } from './spending.ts';

/**
 * The ledger of paid operations (docs/design.md 4). Each change of state names the states that it may start from in its
 * own UPDATE: of two that race, one happens, and only that one is audited.
 */
export function createLedger(foundation: Foundation): Ledger {
  const { db } = foundation;
  return {
    ...createLedgerLists(foundation),
    ...createLeases(foundation),
    prepare: (operation, budget) =>
      db.transaction().execute((trx) => prepareOperation(trx, operation, budget)),
    sumSpent: (workspaceId, actorId, since) => sumSpent(db, workspaceId, actorId, since),
    markSent: (id, sent) => db.transaction().execute((trx) => markSent(trx, id, sent)),
    settle: (id, settled, audit) =>
      db.transaction().execute(async (trx) => {
        const { at, serverId, paidUntil, password, isFirstHand = false } = settled;
        const from = isFirstHand ? [...UNSETTLED, 'refused' as const] : UNSETTLED;
        const isLate = isFirstHand && password !== undefined && (await lacksPassword(trx, id));
        const row = await move(trx, id, isLate ? [...from, 'settled'] : from, {
          ...endedAt(at),
          state: 'settled',
          ...(serverId === undefined ? {} : { server_id: serverId }),
          paid_until: paidUntil ?? null,
          has_password: password ? 1 : 0,
          reason: null,
          reason_details: null,
        });
        if (!row) return false;
        if (password && serverId !== undefined)
          await keepPassword(trx, foundation.vault, toOperation(row), { at, serverId, password });
        await addAudit(trx, foundation, audit);
        return true;
      }),
    refuse: (id, { at, reason, reasonDetails }, audit) =>
      moveAudited(foundation, id, ['prepared', 'sent', 'in_doubt'], audit, {
        ...endedAt(at),
        state: 'refused',
        reason,
        reason_details: reasonDetails ? JSON.stringify(reasonDetails) : null,
        claim: '',
      }),
    markUnconfirmed: (id, { dueAt, reason }, audit) =>
      moveAudited(foundation, id, ['sent'], audit, {
        state: 'in_doubt',
        reason,
        reason_details: null,
        told_at: 0,
        due_at: dueAt,
      }),
    markNeedsDecision: async (id, audit, reason) => {
      const why = reason === undefined ? {} : { reason, reason_details: null };
      const change = { ...why, needs_person: 1, told_at: 0, due_at: audit.at };
      await moveAudited(foundation, id, ['in_doubt'], audit, change);
    },
    markNotified: async (told, at) => {
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
        .where('id', '=', told.id)
        .where('state', '=', told.state)
        .where('needs_person', '=', told.needsDecision ? 1 : 0)
        .where('has_password', '=', told.hasPassword ? 1 : 0)
        .where('told_at', '=', 0)
        .execute();
    },
  };
}

const UNSETTLED = ['sent', 'in_doubt'] as const;

/** Only the owner that sent a request may send it again: to any other one it counts as sent. */
async function markSent(
  trx: Queries,
  id: string,
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

/** Settled from a list, before the answer with the password came after all. */
async function lacksPassword(trx: Queries, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('operations')
    .select('has_password')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.has_password === 0;
}

/** An ended operation is due at once, for telling. */
function endedAt(at: number) {
  return { ended_at: at, told_at: 0, due_at: at, needs_person: 0 };
}

async function move(
  db: Queries,
  id: string,
  from: readonly OperationState[],
  change: Partial<OperationRow>,
): Promise<OperationRow | undefined> {
  return (
    db
      .updateTable('operations')
      .set(change)
      .where('id', '=', id)
      .where('state', 'in', from)
      // An operation is left to a person once; ending it takes that back.
      .$if(change.needs_person === 1, (update) => update.where('needs_person', '=', 0))
      .returningAll()
      .executeTakeFirst()
  );
}

async function moveAudited(
  foundation: Foundation,
  id: string,
  from: readonly OperationState[],
  audit: AuditEntry,
  change: Partial<OperationRow>,
): Promise<boolean> {
  return foundation.db.transaction().execute(async (trx) => {
    if (!(await move(trx, id, from, change))) return false;
    await addAudit(trx, foundation, audit);
    return true;
  });
}
