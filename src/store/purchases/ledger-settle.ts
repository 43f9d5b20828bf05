import type { Transaction } from 'kysely';
import type { Ledger } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Secret } from '../../domain/secret.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import { ended, move } from './ledger-moves.ts';
import { hasMadeServer } from './ledger-rivals.ts';
import type { StoredState } from './ledger-rows.ts';
import { keepPassword, openAnswer } from './sealed-answers.ts';

const OPEN = ['sent', 'in_doubt'] as const;

/** Settles an operation with its password and its audit entry, in a transaction (docs/design.md 4.4). */
export async function settle(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  settled: Parameters<Ledger['settle']>[1],
  audit: AuditEntry,
): Promise<boolean> {
  const { at, serverId, paidUntil } = settled;
  const before = await findBefore(trx, id);
  if (!settled.isFirstHand && (await hasMadeServer(trx, id, serverId))) return false;
  const password =
    settled.password ?? findAnswer(foundation, { id, workspaceId: audit.workspaceId }, serverId, before);
  const row = await move(trx, id, listOrigins(settled, before?.has_password === 0), {
    ...ended(at),
    server_id: serverId,
    is_late: before?.state === 'refused' ? 1 : 0,
    sealed_answer: null,
    state: 'settled',
    paid_until: paidUntil ?? null,
    has_password: password ? 1 : 0,
    reason: null,
    reason_details: null,
  });
  if (!row) return false;
  await addAudit(trx, foundation, audit);
  if (password && serverId !== undefined)
    await keepPassword(trx, foundation, row, { at, serverId, password });
  return true;
}

/** The API's own answer also corrects a refusal, and a settlement from a list that had no password (docs/design.md 4.6). */
function listOrigins(
  { isFirstHand = false, isLate = false, password }: Parameters<Ledger['settle']>[1],
  lacksPassword: boolean,
): readonly StoredState[] {
  if (isLate) return ['refused'];
  if (!isFirstHand) return OPEN;
  return password !== undefined && lacksPassword ? [...OPEN, 'refused', 'settled'] : [...OPEN, 'refused'];
}

function findBefore(trx: Queries, id: ConfirmationId) {
  return trx
    .selectFrom('operations')
    .select(['state', 'has_password', 'sealed_answer'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** What came with an earlier answer that proved nothing. */
function findAnswer(
  foundation: Foundation,
  row: Pick<Operation, 'id' | 'workspaceId'>,
  serverId: number | undefined,
  before: { readonly sealed_answer: string | null } | undefined,
): Secret<string> | undefined {
  const sealed = before?.sealed_answer ?? null;
  return serverId === undefined || sealed === null ? undefined : openAnswer(foundation, row, sealed);
}
