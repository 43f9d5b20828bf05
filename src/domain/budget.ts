import type { Money } from './money.ts';

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
