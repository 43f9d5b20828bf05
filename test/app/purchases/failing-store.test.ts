import { describe, expect, test } from 'vitest';
import type { Fate } from './support/mortal-process.ts';
import { ORDERS } from './support/order.ts';
import { LEAST_STEPS, sweep } from './support/sweep.ts';

const failsFor =
  (forMs: number) =>
  (at: number): Fate => ({ kind: 'store_fails', at, forMs });

/** Lets the store throw before and after every call, one run for each. */
// A2 in docs/attacks.md.
describe.each(ORDERS)('$name, while the store fails', (order) => {
  test.each([
    ['one call fails, before or after it was committed', 0],
    ['every call fails for 20 seconds, from any call on', 20_000],
  ])('is paid at most once, and its outcome is reported, when %s', async (_words, forMs) => {
    const tried = await sweep(order, failsFor(forMs), true);
    expect(tried.length).toBeGreaterThanOrEqual(LEAST_STEPS);
  });
});
