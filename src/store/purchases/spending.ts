import type { Budget, NewOperation, Prepared, Spent } from '../../app/purchases/ports.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import { money } from '../../domain/money.ts';
import { fitsBudget } from '../../domain/settings.ts';
import type { Queries } from '../engine/database.ts';

type Excess = Extract<Prepared, { readonly kind: 'over_budget' }>;

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

/** Tells whose budget a confirmation would go over; the workspace's comes first. */
export async function findExcess(
  db: Queries,
  { workspaceId, actorId, price }: NewOperation,
  budget: Budget,
): Promise<Excess | undefined> {
  if (budget.workspace === undefined && budget.person === undefined) return undefined;
  const spent = await sumSpent(db, workspaceId, actorId, budget.since);
  for (const whose of ['workspace', 'person'] as const) {
    const most = budget[whose];
    if (most === undefined || fitsBudget(spent[whose], price, most)) continue;
    return { kind: 'over_budget', whose, spent: spent[whose], most };
  }
  return undefined;
}
