import { expect, test } from 'vitest';
import { labelOfAction } from '../../src/requests/decision.ts';

test('an approval is named by the label of its server', () => {
  const order = { plan: 's', location: 'l', image: 'i', label: 'web-1' };
  expect(labelOfAction({ kind: 'purchase', purchase: { kind: 'create', order } })).toBe('web-1');
  const renew = { kind: 'renew' as const, serverId: 7, label: 'web-2', paidUntil: 1 };
  expect(labelOfAction({ kind: 'purchase', purchase: renew })).toBe('web-2');
  expect(labelOfAction({ kind: 'delete', serverId: 7, label: 'web-3' })).toBe('web-3');
});
