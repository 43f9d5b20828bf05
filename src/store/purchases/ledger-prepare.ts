import type { Transaction } from 'kysely';
import type { Budget, NewOperation, Prepared } from '../../app/purchases/ports.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { toOperation, toRow } from './ledger-rows.ts';
import { findExcess } from './spending.ts';

export type Confirmed = Exclude<Prepared, { readonly kind: 'over_budget' }>;

/** Writes a confirmation within its budget, in a transaction; what is known already costs nothing again. */
export async function prepareOperation(
  trx: Transaction<Tables>,
  operation: NewOperation,
  budget: Budget | undefined,
): Promise<Prepared> {
  if (!budget) return insertOperation(trx, operation);
  await lockWorkspace(trx, operation.workspaceId);
  const held = await findHeld(trx, toRow(operation));
  if (held) return { kind: 'known', operation: toOperation(held) };
  return (await findExcess(trx, operation, budget)) ?? insertOperation(trx, operation);
}

/** Writes a confirmation, or finds the one that stands in its way, within a transaction. */
export async function insertOperation(trx: Transaction<Tables>, operation: NewOperation): Promise<Confirmed> {
  const row = toRow(operation);
  const inserted = await trx
    .insertInto('operations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted) return { kind: 'new', operation: toOperation(inserted) };
  const held = await findHeld(trx, row);
  if (!held) throw new Error('what stood in the way of a confirmation has gone');
  return { kind: 'known', operation: toOperation(held) };
}

/** The operation that is in the way of an insert: the same id, or the same claim. */
async function findHeld(trx: Transaction<Tables>, row: OperationRow): Promise<OperationRow | undefined> {
  const sameId = await trx.selectFrom('operations').selectAll().where('id', '=', row.id).executeTakeFirst();
  if (sameId) {
    if (sameId.workspace_id === row.workspace_id) return sameId;
    throw new Error('the id of a confirmation belongs to another workspace');
  }
  if (row.claim === '') return undefined;
  return trx
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', row.workspace_id)
    .where('claim', '=', row.claim)
    .executeTakeFirst();
}
