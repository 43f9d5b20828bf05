import type { Transaction } from 'kysely';
import { THE_APP } from '../../domain/actor.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace } from '../../vault.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation } from '../engine/database.ts';
import type { OperationRow, Tables } from '../engine/tables.ts';
import { isErasedSince } from '../installations/erase-installation.ts';
import { toOperation } from './ledger-rows.ts';
import { storePassword } from './passwords.ts';

type Row = Pick<Operation, 'id' | 'workspaceId'>;

/** Keeps an unclear answer with an operation that is open or refused, or as the password of a server that lacks one. */
export async function keepAnswer(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  answer: Secret<string>,
  at: number,
): Promise<void> {
  const row = await trx.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
  if (row?.kind !== 'create' || row.has_password === 1) return;
  if (await isErasedSince(trx, row.workspace_id, row.created_at))
    return auditErased(trx, foundation, toOperation(row), { at });
  const { server_id: serverId, workspace_id: workspaceId } = row;
  const isFound = row.state === 'settled' && serverId !== null;
  const change = isFound
    ? { has_password: 1, told_at: 0, due_at: at }
    : { sealed_answer: row.sealed_answer ?? sealAnswer(foundation, { id, workspaceId }, answer) };
  await trx.updateTable('operations').set(change).where('id', '=', id).execute();
  if (isFound)
    await storePassword(trx, foundation.vault, toOperation(row), {
      at,
      serverId,
      password: asPassword(answer),
    });
}

/** Stores the password of a settled order. If the app was uninstalled since, it is erased with the others of the workspace. */
export async function keepPassword(
  trx: Transaction<Tables>,
  foundation: Foundation,
  row: OperationRow,
  settled: Parameters<typeof storePassword>[3],
): Promise<void> {
  const operation = toOperation(row);
  if (await isErasedSince(trx, row.workspace_id, row.created_at))
    return auditErased(trx, foundation, operation, settled);
  await storePassword(trx, foundation.vault, operation, settled);
}

function auditErased(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id: operationId, workspaceId, purchase }: Operation,
  { at, serverId }: { readonly at: number; readonly serverId?: ServerId },
): Promise<void> {
  const subject = { operationId, label: labelOf(purchase), serverId };
  const act = { actorId: THE_APP, surface: 'background', actId: foundation.newId() } as const;
  const audit = { at, workspaceId, ...act, action: 'password_erased', outcome: 'done', ...subject } as const;
  return addAudit(trx, foundation, audit);
}

/** For its creator, who may find the password in it. It opens in its own row alone. */
function sealAnswer({ vault }: Foundation, row: Row, answer: Secret<string>): string {
  return vault.seal(answer.reveal(), placeOf(row));
}

/** Opens it again. A lost encryption key must not keep the order from being settled: then it is undefined. */
export function openAnswer({ vault }: Foundation, row: Row, sealed: string): Secret<string> | undefined {
  try {
    return asPassword(new Secret(vault.open(sealed, placeOf(row))));
  } catch {
    return undefined;
  }
}

/** What is shown to a server's creator instead of a root password that was not recognized. */
function asPassword(answer: Secret<string>): Secret<string> {
  return new Secret(`No root password was recognized. The hosting API answered:\n${answer.reveal()}`);
}

function placeOf({ id, workspaceId }: Row): SealedPlace {
  return { table: 'operations', row: id, column: 'sealed_answer', workspaceId };
}
