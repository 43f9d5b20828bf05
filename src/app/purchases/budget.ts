import type { Money } from '../../domain/money.ts';
import { DEFAULT_SETTINGS, fitsBudget } from '../../domain/settings.ts';
import { monthStart } from '../../domain/time.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import type { Budget, Spent } from './ports.ts';

/** What may still be spent this month; only what was spent with this app counts, and whose price is known. */
export interface BudgetState {
  readonly budget: Budget;
  readonly spent: Spent;
}

/** The workspace's budget; undefined when none is set. */
export async function findBudget({
  actor,
  ports,
}: Pick<UseCaseContext<AppPorts>, 'actor' | 'ports'>): Promise<Budget | undefined> {
  const workspace = await ports.workspaces.find(actor.workspaceId);
  const { budget } = workspace?.settings ?? DEFAULT_SETTINGS;
  if (budget.workspace === undefined && budget.person === undefined) return undefined;
  return { since: monthStart(ports.system.now()), ...budget };
}

/** How much of the budget is used, for the review; undefined when none is set. */
export async function readBudget(
  context: Pick<UseCaseContext<AppPorts>, 'actor' | 'ports'>,
): Promise<BudgetState | undefined> {
  const budget = await findBudget(context);
  if (!budget) return undefined;
  const { workspaceId, userId } = context.actor;
  return { budget, spent: await context.ports.ledger.sumSpent(workspaceId, userId, budget.since) };
}

/** Tells whether a purchase would go over the budget of the workspace or of the person. */
export function isOverBudget({ budget, spent }: BudgetState, price: Money | undefined): boolean {
  return (['workspace', 'person'] as const).some((whose) => {
    const most = budget[whose];
    return most !== undefined && !fitsBudget(spent[whose], price, most);
  });
}
