import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Money, money } from '../../src/core/money.ts';
import { isOverBudget } from '../../src/purchases/costs.ts';

const state = (
  budget: { workspace?: Money; person?: Money },
  spent: { workspace: number; person: number },
) => ({
  budget: { since: 0, ...budget },
  spent: { workspace: money(spent.workspace), person: money(spent.person) },
});

describe('a purchase', () => {
  test.each([
    ['the workspace’s budget', state({ workspace: money(1000) }, { workspace: 600, person: 0 })],
    ['the user’s own budget', state({ person: money(1000) }, { workspace: 0, person: 600 })],
    [
      'the user’s own budget, while the workspace has enough left',
      state({ workspace: money(9000), person: money(1000) }, { workspace: 600, person: 600 }),
    ],
    [
      'the workspace’s budget, while the user has enough left',
      state({ workspace: money(1000), person: money(9000) }, { workspace: 600, person: 0 }),
    ],
  ])('that would go over %s is over budget, and one that just fits is not', (_words, budget) => {
    expect(isOverBudget(budget, money(401))).toBe(true);
    expect(isOverBudget(budget, money(400))).toBe(false);
  });

  test('of an unknown price is over budget once nothing is left', () => {
    expect(isOverBudget(state({ person: money(600) }, { workspace: 600, person: 600 }), undefined)).toBe(
      true,
    );
    expect(isOverBudget(state({ person: money(601) }, { workspace: 600, person: 600 }), undefined)).toBe(
      false,
    );
  });

  test('is over budget exactly when it is over one of the two', () => {
    const amount = fc.nat(1000).map(money);
    fc.assert(
      fc.property(amount, amount, amount, amount, amount, (workspace, person, byAll, byUser, price) => {
        const budget = state({ workspace, person }, { workspace: byAll, person: byUser });
        expect(isOverBudget(budget, price)).toBe(byAll + price > workspace || byUser + price > person);
      }),
    );
  });
});
