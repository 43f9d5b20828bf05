import { type Budget, findExcess, type Spent } from '../../domain/budget.ts';
import { Refusal } from '../../domain/errors.ts';
import { type Money, money } from '../../domain/money.ts';
import type { Operation } from '../../domain/operation.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import { monthStart } from '../../domain/time.ts';
import type { FollowUpContext } from '../authorize/use-case.ts';
import type { AppContext } from '../ports.ts';

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
  const approval = await app.approvals.find(id);
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
