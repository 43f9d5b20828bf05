import type { Spent } from '../../domain/budget.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import { money } from '../../domain/money.ts';
import type { Queries } from '../engine/database.ts';

/**
 * Sums what confirmations since then have paid or may still pay, in hundredths. Refused ones cost nothing, and a price
 * that is not known can't be added.
 */
export async function sumSpent(
  db: Queries,
  workspaceId: WorkspaceId,
  actorId: UserId,
  since: number,
): Promise<Spent> {
  const sums = await db
    .selectFrom('operations')
    .select(({ fn }) => [
      fn.sum<number | string | null>('price').as('workspace'),
      fn.sum<number | string | null>('price').filterWhere('actor_id', '=', actorId).as('person'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('created_at', '>=', since)
    .where('state', '<>', 'refused')
    .executeTakeFirstOrThrow();
  return { workspace: money(Number(sums.workspace ?? 0)), person: money(Number(sums.person ?? 0)) };
}
