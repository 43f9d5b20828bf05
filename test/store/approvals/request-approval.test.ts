import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import type { Approvals } from '../../../src/requests/approval.ts';
import { engines, entry, newApproval, newDelete, newRenew, T0 } from '../support.ts';

const by = (at = T0 + 1) => ({ by: 'U9', at });
const renewal = newRenew(7, T0).purchase;

describe.each(engines)('requesting an approval on $name', ({ make }) => {
  let store: Store;
  let approvals: Approvals;
  beforeEach(async () => {
    store = await make();
    approvals = store.approvals;
  });

  const countAudit = async () => (await store.audit.list({ workspaceId: 'T1', limit: 100 })).length;
  const requested = async (more: Parameters<typeof newApproval>[0] = {}) => {
    const { approval } = await approvals.request(newApproval(more), entry());
    return approval;
  };

  test('stores it as it was confirmed, with its cards', async () => {
    for (const action of [
      newApproval().action,
      newDelete(3),
      { kind: 'purchase', purchase: renewal } as const,
    ]) {
      const wanted = newApproval({ action, isOverBudget: true });
      const { isNew, approval } = await approvals.request(wanted, entry());
      expect(isNew).toBe(true);
      expect(approval).toStrictEqual({
        ...wanted,
        state: 'open',
        isNotified: false,
        cards: [],
        keyGeneration: 0,
      });
      const cards = [{ channelId: 'C1', ts: '1.1' }];
      await approvals.storeCards(wanted.id, cards);
      expect(await approvals.find(wanted.id)).toStrictEqual({ ...approval, cards });
    }
    expect(await approvals.find('nothing')).toBeUndefined();
    expect(await countAudit()).toBe(3);
  });

  test('twice makes one approval, audited once, and returns its current state however late', async () => {
    const wanted = newApproval();
    const both = await Promise.all([approvals.request(wanted, entry()), approvals.request(wanted, entry())]);
    expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
    expect(await countAudit()).toBe(1);
    await approvals.move(wanted.id, ['open'], { state: 'denied', ...by() });
    expect(await approvals.request(wanted, entry())).toMatchObject({
      isNew: false,
      approval: { state: 'denied' },
    });
    await expect(approvals.request({ ...wanted, workspaceId: 'T2' }, entry())).rejects.toThrow(
      /another workspace/,
    );
  });

  test.each([
    ['the delete of one server', newDelete(7), newDelete(8)],
    [
      'one month of a server',
      { kind: 'purchase', purchase: renewal } as const,
      { kind: 'purchase', purchase: newRenew(7, T0 + 1).purchase } as const,
    ],
  ])('for %s by two users makes one card; for something else, another', async (_, action, other) => {
    const both = await Promise.all([
      approvals.request(newApproval({ action }), entry()),
      approvals.request(newApproval({ action, requesterId: 'U2' }), entry()),
    ]);
    expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(both[0]?.approval.id).toBe(both[1]?.approval.id);
    expect(await approvals.request(newApproval({ action: other }), entry())).toMatchObject({ isNew: true });
    const elsewhere = newApproval({ action, workspaceId: 'T2' });
    expect(await approvals.request(elsewhere, entry({ workspaceId: 'T2' }))).toMatchObject({ isNew: true });
    expect(await approvals.listOpen('T1')).toHaveLength(2);
  });

  test('for two servers with the same label makes two cards', async () => {
    const both = await Promise.all([requested(), requested()]);
    expect(both[0]?.id).not.toBe(both[1]?.id);
    expect(await approvals.listOpen('T1')).toHaveLength(2);
  });

  test.each([
    { state: 'approved' },
    { state: 'denied' },
    { state: 'expired' },
    { state: 'canceled', reason: { code: 'price_moved', details: {} } },
  ] as const)('again is possible when the first is $state', async (outcome) => {
    const first = await requested({ action: newDelete(7) });
    await approvals.move(first.id, ['open'], { ...outcome, at: T0 });
    expect((await approvals.request(newApproval({ action: newDelete(7) }), entry())).isNew).toBe(true);
  });

  test('again is possible when the first has expired, even before the sweep', async () => {
    const first = await requested({ action: newDelete(7) });
    const again = newApproval({ action: newDelete(7), requestedAt: first.expiresAt });
    const early = { ...again, requestedAt: first.expiresAt - 1 };
    expect(await approvals.request(early, entry())).toEqual({ isNew: false, approval: first });
    expect((await approvals.request(again, entry())).isNew).toBe(true);
    const expired = await approvals.expire(first.expiresAt, () => entry());
    expect(expired.map(({ id }) => id)).toEqual([first.id]);
  });
});
