import { describe, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS, needsApproval, takesApprovals } from '../../src/core/settings.ts';

const OFF = DEFAULT_SETTINGS.approval;

describe('the two-person rule', () => {
  test('is off by default', () => {
    expect(needsApproval(OFF, 'create', money(1e9))).toBe(false);
    expect(needsApproval(OFF, 'renew', undefined)).toBe(false);
    expect(takesApprovals(OFF, 'create')).toBe(false);
    expect(takesApprovals(OFF, 'renew')).toBe(false);
  });

  test.each([
    [590, 590, false],
    [590, 591, true],
    [0, 0, false],
    [0, 1, true],
    [590, undefined, true],
  ])('for creates above %s applies to a price of %s: %s', (above, price, holds) => {
    const rule = { ...OFF, createAbove: money(above) };
    expect(needsApproval(rule, 'create', price === undefined ? undefined : money(price))).toBe(holds);
    expect(needsApproval(rule, 'renew', money(1e9))).toBe(false);
    expect(takesApprovals(rule, 'create')).toBe(true);
  });

  test('for renewals applies whatever they cost', () => {
    const rule = { ...OFF, renew: true };
    expect(needsApproval(rule, 'renew', undefined)).toBe(true);
    expect(needsApproval(rule, 'renew', money(0))).toBe(true);
    expect(needsApproval(rule, 'create', money(1e9))).toBe(false);
  });
});
