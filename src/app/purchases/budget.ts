import type { Actor } from '../../domain/actor.ts';
import { type Budget, findExcess, type Spent } from '../../domain/budget.ts';
import { Refusal } from '../../domain/errors.ts';
import { type Money, money } from '../../domain/money.ts';
import type { Operation } from '../../domain/operation.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import { monthStart } from '../../domain/time.ts';
import type { System } from '../../system.ts';
import type { Workspaces } from '../account/ports.ts';
import type { Approvals } from '../approvals/ports.ts';
import type { Ledger } from './ports.ts';

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

/**
 * Checks a confirmed order again before it is sent: an owner may have lowered the budget since. Going over it may have been
 * approved.
 * @throws Refusal `over_budget`
 */
export async function refuseOverBudget(
  { id, workspaceId, actorId, price, createdAt }: Operation,
  ports: SpendingPorts & { readonly approvals: Pick<Approvals, 'find'> },
): Promise<void> {
  const state = await readBudget({ actor: { workspaceId, userId: actorId }, ports });
  if (!state) return;
  const approval = await ports.approvals.find(id);
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
