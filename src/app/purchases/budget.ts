import type { Actor } from '../../domain/actor.ts';
import type { Money } from '../../domain/money.ts';
import { DEFAULT_SETTINGS, fitsBudget } from '../../domain/settings.ts';
import { monthStart } from '../../domain/time.ts';
import type { System } from '../../system.ts';
import type { Workspaces } from '../account/ports.ts';
import type { Budget, Ledger, Spent } from './ports.ts';

/** What may still be spent this month. Only what was spent with this app counts, and only where the price is known. */
export interface BudgetState {
  readonly budget: Budget;
  readonly spent: Spent;
}

/** What it takes to find the budget that counts now. */
export interface BudgetPorts {
  readonly system: Pick<System, 'now'>;
  readonly workspaces: Pick<Workspaces, 'find'>;
}

/** What it takes to read how much of it is used. */
export interface SpendingPorts extends BudgetPorts {
  readonly ledger: Pick<Ledger, 'sumSpent'>;
}

interface Context<Ports> {
  readonly actor: Actor;
  readonly ports: Ports;
}

/** The workspace's budget; undefined when none is set. */
export async function findBudget({ actor, ports }: Context<BudgetPorts>): Promise<Budget | undefined> {
  const workspace = await ports.workspaces.find(actor.workspaceId);
  const { budget } = workspace?.settings ?? DEFAULT_SETTINGS;
  if (budget.workspace === undefined && budget.person === undefined) return undefined;
  return { since: monthStart(ports.system.now()), ...budget };
}

/** How much of the budget is used, for the review; undefined when none is set. */
export async function readBudget(context: Context<SpendingPorts>): Promise<BudgetState | undefined> {
  const budget = await findBudget(context);
  if (!budget) return undefined;
  const { workspaceId, userId } = context.actor;
  return { budget, spent: await context.ports.ledger.sumSpent(workspaceId, userId, budget.since) };
}

/** Tells whether a purchase would go over the budget of the workspace or of the user. */
export function isOverBudget({ budget, spent }: BudgetState, price: Money | undefined): boolean {
  return (['workspace', 'person'] as const).some((whose) => {
    const most = budget[whose];
    return most !== undefined && !fitsBudget(spent[whose], price, most);
  });
}
