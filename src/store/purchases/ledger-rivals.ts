import type { Transaction } from 'kysely';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { labelOf } from '../../domain/operation.ts';
import { listAccountNames } from '../account/accounts.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { parsePurchase } from './parse-purchase.ts';

/**
 * Whether another order of the account, of any workspace, stands in the way of sending this one (docs/design.md 4.3). What the
 * account is known to be at this moment counts: an order that was sent before two accounts were found to be one is found, too.
 */
export async function isInTheWay(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  account: string,
): Promise<boolean> {
  const row = await trx.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return false;
  const names = await listAccountNames(trx, account);
  return row.kind === 'create' ? hasOpenCreate(trx, row, names) : hasSameMonth(trx, row, names);
}

async function hasOpenCreate(
  trx: Transaction<Tables>,
  { id, workspace_id: workspaceId, purchase }: OperationRow,
  names: readonly string[],
): Promise<boolean> {
  const label = labelOf(parsePurchase(purchase));
  const others = await trx
    .selectFrom('operations')
    .select(['state', 'purchase'])
    .where('kind', '=', 'create')
    .where('state', 'in', ['sent', 'in_doubt'])
    .where('id', '<>', id)
    .where((column) => column.or([column('account', 'in', names), column('workspace_id', '=', workspaceId)]))
    .execute();
  return others.some(
    (other) => other.state === 'sent' || isSameLabel(labelOf(parsePurchase(other.purchase)), label),
  );
}

/** Two that were confirmed before their accounts were found to be one have the same claim. */
async function hasSameMonth(
  trx: Transaction<Tables>,
  { id, claim }: OperationRow,
  names: readonly string[],
): Promise<boolean> {
  const other = await trx
    .selectFrom('operations')
    .select('id')
    .where('claim', '=', claim)
    .where('account', 'in', names)
    .where('state', 'in', ['sent', 'in_doubt', 'settled'])
    .where('id', '<>', id)
    .executeTakeFirst();
  return claim !== '' && other !== undefined;
}

/** Whether another create of the account has made this server. */
export async function hasMadeServer(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  serverId: ServerId | undefined,
): Promise<boolean> {
  const row = await trx.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
  if (serverId === undefined || row?.kind !== 'create') return false;
  const names = await listAccountNames(trx, row.account);
  if (names.length === 0) return false;
  const other = await trx
    .selectFrom('operations')
    .select('id')
    .where('kind', '=', 'create')
    .where('state', '=', 'settled')
    .where('server_id', '=', serverId)
    .where('account', 'in', names)
    .where('id', '<>', id)
    .executeTakeFirst();
  return other !== undefined;
}
