import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { BATCH } from '../../src/reminders/batch.ts';
import { type DigestContent, NO_DRIFT } from '../../src/reminders/digest-content.ts';
import type { DigestRecord, Snapshot } from '../../src/reminders/store.ts';
import { confirm, engines, entry, newCreate, newRenew, settleCreate, T0 } from '../db/support.ts';

describe.each(engines)('the ledger of servers with reminders on $name', ({ make }) => {
  test('has renewals that were not refused, and the last price', async () => {
    const store = await make();
    const { ledger } = store;
    await settleCreate(store, newCreate('web-7', { price: money(499) }), { serverId: 7 });
    await settleCreate(store, newRenew(7, 100, { price: money(590), at: T0 + 1 }), { serverId: 7 });
    await settleCreate(store, newRenew(8, 100, { at: T0 + 2 }), { serverId: 8 });
    const refused = newRenew(9, 100);
    await confirm(ledger, refused);
    await ledger.refuse(refused.id, { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
    const open = newRenew(10, 100);
    await confirm(ledger, open);
    const renewals = await ledger.listRenewalsOf('T1', [7, 8, 9, 10]);
    expect(renewals.map(({ serverId, state }) => [serverId, state])).toEqual([
      [10, 'prepared'],
      [7, 'settled'],
      [8, 'settled'],
    ]);
    const prices = await ledger.listPriced('T1', [7, 8, 9]);
    expect(prices.map(({ serverId, price }) => [serverId, price])).toEqual([
      [7, 499],
      [7, 590],
    ]);
    expect(await ledger.listPriced('T2', [7])).toEqual([]);
    expect(await ledger.listRenewalsOf('T1', [])).toEqual([]);
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

const DAY = '2026-03-02';
const CONTENT: DigestContent = {
  due: [{ serverId: 7, label: 'web-1', paidUntil: T0 + 5, daysLeft: 1, isUrgent: true }],
  expired: [{ serverId: 9, label: 'old', paidUntil: T0 - 5, leftBy: 'U1', isListed: true }],
  drift: NO_DRIFT,
  snoozed: 1,
  left: 2,
  isComplete: true,
};
const SNAPSHOT: Snapshot = {
  account: 'a',
  at: T0,
  servers: [
    { id: 7, label: 'web-1', state: 'running', paidUntil: T0 },
    { id: 8, label: 'ü "2"', state: '' },
  ],
};
const RECORD: DigestRecord = {
  lastAt: T0,
  snapshot: SNAPSHOT,
  live: { day: DAY, card: { channelId: 'C1', ts: '1.1' }, content: CONTENT },
};

describe.each(engines)('digests on $name', ({ make }) => {
  test('are claimed once a day in each workspace, by however many at once, and again only if nothing was posted', async () => {
    const { digests } = await make();
    const claims = await Promise.all(Array.from({ length: 10 }, () => digests.claim('T1', DAY)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await digests.claim('T2', DAY)).toBe(true);
    expect(await digests.claim('T1', '2026-03-03')).toBe(true);
    // A clock that was set back a day finds the day claimed.
    expect(await digests.claim('T1', DAY)).toBe(false);
    await digests.release('T1', DAY);
    expect(await digests.find('T1')).toEqual({ day: '2026-03-03' });
    await digests.release('T1', '2026-03-03');
    expect(await digests.claim('T1', '2026-03-03')).toBe(true);
  });

  test('come back as they were posted, with the servers that they saw, and stay until the next one', async () => {
    const { digests } = await make();
    expect(await digests.find('T1')).toEqual({ day: '' });
    await digests.claim('T1', DAY);
    await digests.put('T1', DAY, RECORD);
    expect(await digests.find('T1')).toEqual({ day: DAY, ...RECORD });
    expect(await digests.find('T2')).toEqual({ day: '' });
    await digests.claim('T1', '2026-03-03');
    // A process that was frozen since the day before must not replace what a later one has stored.
    await digests.put('T1', DAY, { ...RECORD, lastAt: T0 + 1 });
    expect(await digests.find('T1')).toEqual({ day: '2026-03-03', ...RECORD });
  });
});
