import type { Vault } from '../../vault.ts';
import type { Queries } from '../engine/database.ts';
import type { PasswordRow } from '../engine/tables.ts';
import { judgeEntry } from './audit-chain.ts';

/** Whether a signed audit entry says that this user's create of this server was done. */
export async function hasSignedCreate(
  db: Queries,
  vault: Vault,
  { workspace_id, operation_id, creator_id, label }: PasswordRow,
): Promise<boolean> {
  const entries = await db
    .selectFrom('audit')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('operation_id', '=', operation_id)
    .where('actor_id', '=', creator_id)
    .where('action', '=', 'create')
    .where('label', '=', label)
    .where('outcome', '=', 'done')
    .execute();
  return entries.some(({ signature, ...cells }) => judgeEntry(vault, cells, signature) === 'signed');
}
