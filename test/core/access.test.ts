import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import {
  DEFAULT_SETTINGS,
  listChanges,
  needsApproval,
  takesApprovals,
  type WorkspaceSettings,
} from '../../src/core/settings.ts';

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

describe('changes of settings', () => {
  const amount = fc.integer({ min: 0, max: 1e9 }).map(money);
  const anySettings: fc.Arbitrary<WorkspaceSettings> = fc.record(
    {
      announces: fc.boolean(),
      approval: fc.record(
        { delete: fc.boolean(), renew: fc.boolean(), createAbove: amount },
        { requiredKeys: ['delete', 'renew'] },
      ),
      budget: fc.record({ workspace: amount, person: amount }, { requiredKeys: [] }),
      channelId: fc.constantFrom('C1', 'C2'),
    },
    { requiredKeys: ['announces', 'approval', 'budget'] },
  );

  test('are found whatever was changed, and in both directions', () => {
    fc.assert(
      fc.property(anySettings, anySettings, (was, is) => {
        const changes = listChanges(was, is);
        const isSame = JSON.stringify(sorted(was)) === JSON.stringify(sorted(is));
        expect(changes.length === 0).toBe(isSame);
        expect(listChanges(is, was).map(({ name }) => name)).toEqual(changes.map(({ name }) => name));
      }),
    );
  });

  test('show amounts as decimals', () => {
    const is = { ...DEFAULT_SETTINGS, budget: { person: money(5005) } };
    expect(listChanges(DEFAULT_SETTINGS, is)).toEqual([{ name: 'budget.person', after: '50.05' }]);
  });
});

function sorted({ announces, approval, budget, channelId }: WorkspaceSettings) {
  const { delete: deletes, renew, createAbove } = approval;
  return [announces, deletes, renew, createAbove, budget.workspace, budget.person, channelId];
}
