import type { AppContext } from '../context.ts';
import type { FollowUpContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { UserId, WorkspaceId } from '../core/ids.ts';
import { type Money, money } from '../core/money.ts';
import { DEFAULT_SETTINGS } from '../core/settings.ts';
import { monthStart } from '../core/time.ts';
import type { Queries } from '../db/database.ts';
import type { Operation } from './operation.ts';

/** The most that may be spent since a moment (epoch milliseconds); absent for no limit. */
export interface Budget {
  readonly since: number;
  readonly workspace?: Money;
  readonly person?: Money;
}

/** Only what was spent with this app, and whose price is known. */
export interface Spent {
  readonly workspace: Money;
  readonly person: Money;
}

/** A budget that a purchase would go over, and what is spent of it. */
export interface Excess {
  readonly whose: 'workspace' | 'person';
  readonly spent: Money;
  readonly most: Money;
}

/** Whose budget a purchase would go over, if any; the workspace's comes first. */
export function findExcess(budget: Budget, spent: Spent, price: Money | undefined): Excess | undefined {
  for (const whose of ['workspace', 'person'] as const) {
    const most = budget[whose];
    if (most !== undefined && !fitsBudget(spent[whose], price, most))
      return { whose, spent: spent[whose], most };
  }
  return undefined;
}

/**
 * Whether a price still fits into a budget. An unknown price counts as more than nothing: it fits only while something
 * is left.
 */
export function fitsBudget(spent: Money, price: Money | undefined, most: Money): boolean {
  return price === undefined ? spent < most : spent + price <= most;
}

/** What may still be spent this month. Only what was spent with this app counts, and only where the price is known. */
export interface BudgetState {
  readonly budget: Budget;
  readonly spent: Spent;
}

/** The workspace's budget; undefined when none is set. */
export async function findBudget({ actor, app }: FollowUpContext): Promise<Budget | undefined> {
  const workspace = await app.workspaces.find(actor.workspaceId);
  const { budget } = workspace?.settings ?? DEFAULT_SETTINGS;
  if (budget.workspace === undefined && budget.person === undefined) return undefined;
  return { since: monthStart(app.system.now()), ...budget };
}

/** How much of the budget is used, for the review; undefined when none is set. */
export async function readBudget(context: FollowUpContext): Promise<BudgetState | undefined> {
  const budget = await findBudget(context);
  if (!budget) return undefined;
  const { workspaceId, userId } = context.actor;
  return { budget, spent: await context.app.ledger.sumSpent(workspaceId, userId, budget.since) };
}

/**
 * Checks a confirmed order again before it is sent: an owner may have lowered the budget since. Going over it may have been
 * approved.
 * @throws Refusal `over_budget`
 */
export async function refuseOverBudget(
  { id, workspaceId, actorId, price, createdAt }: Operation,
  app: AppContext,
): Promise<void> {
  const state = await readBudget({ actor: { workspaceId, userId: actorId }, app });
  if (!state) return;
  const approval = await app.requests.find(id, ['purchase']);
  if (approval?.state === 'approved' && approval.isOverBudget) return;
  const { budget } = state;
  // The order itself has been counted since it was confirmed.
  const own = createdAt >= budget.since ? (price ?? 0) : 0;
  const spent = {
    workspace: money(state.spent.workspace - own),
    person: money(state.spent.person - own),
  };
  const excess = findExcess(budget, spent, price);
  if (excess) throw new Refusal('over_budget', { ...excess, price });
}

/** Whether a purchase would go over the budget of the workspace or of the user. */
export function isOverBudget(state: BudgetState, price: Money | undefined): boolean {
  return findExcess(state.budget, state.spent, price) !== undefined;
}

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
