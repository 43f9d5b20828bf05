import { describe, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import { fitsBudget } from '../../src/purchases/budget.ts';

describe('a budget', () => {
  test.each([
    [0, 100, 100, true],
    [0, 101, 100, false],
    [100, 0, 100, true],
    [99, undefined, 100, true],
    [100, undefined, 100, false],
    [0, undefined, 0, false],
    [500, 0, 100, false],
  ])('of which %s is spent allows a price of %s under a limit of %s: %s', (spent, price, most, fits) => {
    expect(fitsBudget(money(spent), price === undefined ? undefined : money(price), money(most))).toBe(fits);
  });
});
