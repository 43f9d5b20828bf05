import type { Transaction } from 'kysely';
import type { NewOperation, Prepared } from '../../app/purchases/ports.ts';
import { type Budget, findExcess } from '../../domain/budget.ts';
import { listAccountNames } from '../account/accounts.ts';
import { findNameOfKey } from '../account/api-keys.ts';
import { readVersions } from '../account/versions.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { refuseFromBeforeRestore } from '../restores.ts';
import { toOperation, toRow } from './ledger-rows.ts';
import { sumSpent } from './spending.ts';

export type Confirmed = Exclude<Prepared, { readonly kind: 'over_budget' }>;

/** Writes a confirmation within its budget, in a transaction; one that was written before costs nothing again. */
export async function prepareOperation(
  trx: Transaction<Tables>,
  operation: NewOperation,
  budget: Budget | undefined,
): Promise<Prepared> {
  if (!budget) return insertOperation(trx, operation);
  await lockWorkspace(trx, operation.workspaceId);
  const earlier = await findEarlier(trx, toRow(operation, 0, ''));
  if (earlier) return { kind: 'known', operation: toOperation(earlier) };
  const { workspaceId, actorId, price } = operation;
  const excess = findExcess(budget, await sumSpent(trx, workspaceId, actorId, budget.since), price);
  return excess ? { kind: 'over_budget', ...excess } : insertOperation(trx, operation);
}

/** Writes a confirmation, or finds the one that it conflicts with, within a transaction. */
async function insertOperation(trx: Transaction<Tables>, operation: NewOperation): Promise<Confirmed> {
  const generation = operation.keyGeneration ?? (await readVersions(trx, operation.workspaceId)).key;
  const row = toRow(operation, generation, (await findNameOfKey(trx, operation.workspaceId)) ?? '');
  if (await isClaimedElsewhere(trx, row)) {
    const own = await findEarlier(trx, row);
    return own ? { kind: 'known', operation: toOperation(own) } : { kind: 'claimed_elsewhere' };
  }
  const inserted = await trx
    .insertInto('operations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted) {
    await refuseFromBeforeRestore(trx, inserted.id);
    return { kind: 'new', operation: toOperation(inserted) };
  }
  const earlier = await findEarlier(trx, row);
  if (!earlier) throw new Error('the operation that conflicted with a confirmation has gone');
  return { kind: 'known', operation: toOperation(earlier) };
}

/** Whether another workspace of the same account has ordered the same month, and was not refused. */
async function isClaimedElsewhere(trx: Transaction<Tables>, row: OperationRow): Promise<boolean> {
  const names = row.claim === '' ? [] : await listAccountNames(trx, row.account);
  if (names.length === 0) return false;
  const claimed = await trx
    .selectFrom('operations')
    .select('id')
    .where('claim', '=', row.claim)
    .where('account', 'in', names)
    .where('workspace_id', '<>', row.workspace_id)
    .executeTakeFirst();
  return claimed !== undefined;
}

/** The operation that an insert conflicts with: of the same id, or with the same claim. */
async function findEarlier(trx: Transaction<Tables>, row: OperationRow): Promise<OperationRow | undefined> {
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
