import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import type { NewOperation } from '../../../src/purchases/ports.ts';
import { BATCH } from '../../../src/reminders/batch-store.ts';
import { confirm, engines, entry, markSent, newCreate, newRenew, T0 } from '../support.ts';

const mark = (serverId: number, paidUntil: number, untilDay?: string) => ({
  serverId,
  label: `web-${serverId}`,
  paidUntil,
  by: 'U1',
  at: T0,
  ...(untilDay === undefined ? {} : { untilDay }),
});

async function settle({ ledger }: Store, operation: NewOperation, serverId: number): Promise<void> {
  await confirm(ledger, operation);
  await markSent(ledger, operation.id, T0);
  await ledger.settle(operation.id, { at: T0, serverId, isFirstHand: true }, entry());
}

describe.each(engines)('decisions about reminders on $name', ({ make }) => {
  test('are about one month of a server, and the last one counts', async () => {
    const { reminders } = await make();
    await reminders.putMark('T1', mark(7, 100, '2026-03-05'));
    await reminders.putMark('T1', mark(8, 50));
    await reminders.putMark('T2', mark(7, 100));
    expect(await reminders.listMarks('T1')).toEqual([mark(8, 50), mark(7, 100, '2026-03-05')]);
    await reminders.putMark('T1', mark(7, 100));
    expect(await reminders.listMarks('T1')).toEqual([mark(8, 50), mark(7, 100)]);
    expect(await reminders.removeMark('T1', 7, 99)).toBe(false);
    expect(await reminders.removeMark('T1', 7, 100)).toBe(true);
    await reminders.removeMarksBefore(51);
    expect(await reminders.listMarks('T1')).toEqual([]);
    expect(await reminders.listMarks('T2')).toHaveLength(1);
  });

  test('go with what the ledger has of the servers: renewals that were not refused, and the last price', async () => {
    const store = await make();
    const { reminders, ledger } = store;
    await settle(store, newCreate('web-7', { price: money(499) }), 7);
    await settle(store, newRenew(7, 100, { price: money(590), at: T0 + 1 }), 7);
    await settle(store, newRenew(8, 100, { at: T0 + 2 }), 8);
    const refused = newRenew(9, 100);
    await confirm(ledger, refused);
    await ledger.refuse(refused.id, { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
    const open = newRenew(10, 100);
    await confirm(ledger, open);
    const renewals = await reminders.listRenewals('T1', [7, 8, 9, 10]);
    expect(renewals.map(({ serverId, state }) => [serverId, state])).toEqual([
      [10, 'prepared'],
      [7, 'settled'],
      [8, 'settled'],
    ]);
    const prices = await reminders.listPrices('T1', [7, 8, 9]);
    expect(prices.map(({ serverId, operation }) => [serverId, operation.price])).toEqual([[7, 590]]);
    expect(await reminders.listPrices('T2', [7])).toEqual([]);
    expect(await reminders.listRenewals('T1', [])).toEqual([]);
  });

  test('can be asked about thousands of servers at once', async () => {
    const store = await make();
    await settle(store, newCreate('web-7'), 7);
    const ids = Array.from({ length: 5000 }, (_, at) => 5000 - at);
    expect(await store.reminders.listPrices('T1', ids)).toHaveLength(1);
  });
});

describe.each(engines)('renewals that are confirmed together on $name', ({ make }) => {
  const batch = {
    id: 'F1',
    workspaceId: 'T1',
    actorId: 'U1',
    channelId: 'C1',
    at: T0,
    renewals: [
      { id: 'O1', serverId: 7, label: 'web-7', paidUntil: 100, price: money(590) },
      { id: 'O2', serverId: 8, label: 'web-8', paidUntil: 100 },
    ],
  };

  const listDue = async ({ jobStore }: Store) => (await jobStore.list(BATCH, 'T1')).map(({ key }) => key);

  test('are confirmed once, and come back as they were shown', async () => {
    const store = await make();
    await store.renewalBatches.put(batch);
    const confirm = (at: number) => store.renewalBatches.confirm('F1', T0 + at);
    const confirmed = await Promise.all([1, 2, 3].map(confirm));
    expect(confirmed.filter(Boolean)).toHaveLength(1);
    const found = await store.renewalBatches.find('F1');
    expect(found).toEqual({ ...batch, at: expect.any(Number), state: 'confirmed', failures: {} });
    expect(await store.renewalBatches.confirm('F2', T0)).toBe(false);
    expect(await listDue(store)).toEqual(['F1']);
  });

  test('are replaced by another review of the same user only until they are confirmed', async () => {
    const { renewalBatches } = await make();
    await renewalBatches.put(batch);
    await renewalBatches.put({ ...batch, actorId: 'U2', renewals: [] });
    await renewalBatches.put({ ...batch, workspaceId: 'T2', renewals: [] });
    expect((await renewalBatches.find('F1'))?.renewals).toHaveLength(2);
    await renewalBatches.put({ ...batch, renewals: batch.renewals.slice(1) });
    expect((await renewalBatches.find('F1'))?.renewals).toHaveLength(1);
    await renewalBatches.confirm('F1', T0);
    await renewalBatches.put(batch);
    expect((await renewalBatches.find('F1'))?.renewals).toHaveLength(1);
  });
});
