import type { Transaction } from 'kysely';
import type { Ledger } from '../../app/purchases/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import { ended, move } from './ledger-moves.ts';
import { type StoredState, toOperation } from './ledger-rows.ts';
import { storePassword } from './passwords.ts';

const OPEN = ['sent', 'in_doubt'] as const;

/** Settles an operation with its password and its audit entry, in a transaction (docs/design.md 4.4). */
export async function settle(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  settled: Parameters<Ledger['settle']>[1],
  audit: AuditEntry,
): Promise<boolean> {
  const { at, serverId, paidUntil, password } = settled;
  const row = await move(trx, id, await listOrigins(trx, id, settled), {
    ...ended(at),
    ...omitUndefined({ server_id: serverId }),
    state: 'settled',
    paid_until: paidUntil ?? null,
    has_password: password ? 1 : 0,
    reason: null,
    reason_details: null,
  });
  if (!row) return false;
  if (password && serverId !== undefined)
    await storePassword(trx, foundation.vault, toOperation(row), { at, serverId, password });
  await addAudit(trx, foundation, audit);
  return true;
}

/** The API's own answer also corrects a refusal, and a settlement from a list that had no password (docs/design.md 4.6). */
async function listOrigins(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  { isFirstHand = false, password }: Parameters<Ledger['settle']>[1],
): Promise<readonly StoredState[]> {
  if (!isFirstHand) return OPEN;
  const isLate = password !== undefined && (await lacksPassword(trx, id));
  return isLate ? [...OPEN, 'refused', 'settled'] : [...OPEN, 'refused'];
}

async function lacksPassword(trx: Queries, id: ConfirmationId): Promise<boolean> {
  const row = await trx
    .selectFrom('operations')
    .select('has_password')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.has_password === 0;
}
