import { expect, onTestFinished, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { SEND_WITHIN_MS } from '../../../src/purchases/operation.ts';
import { type RenewalResult, runBatch, sweepBatches } from '../../../src/reminders/batch.ts';
import { confirm, entry, markSent, newRenew, stillSystem, T0, vault } from '../../store/fixtures.ts';
import { makePorts } from '../support/make-ports.ts';

/** Three renewals that were confirmed, of which one was paid and one was confirmed when the process died. */
async function startKilled() {
  const time = { now: T0 };
  const system = { ...stillSystem, now: () => time.now };
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  onTestFinished(() => store.close());
  const renewals = [1, 2, 3].map((serverId) => ({
    id: `O${serverId}`,
    serverId,
    label: 'web-1',
    paidUntil: T0 + 1000,
  }));
  await store.renewalBatches.put({ id: 'F1', workspaceId: 'T1', actorId: 'U1', at: T0, renewals });
  await store.renewalBatches.confirm('F1', T0);
  for (const place of [0, 1]) await store.renewalBatches.start('F1', place);
  await confirm(store.ledger, newRenew(1, T0 + 1000, { id: 'O1' }));
  await markSent(store.ledger, 'O1', T0);
  await store.ledger.settle('O1', { at: T0, serverId: 1, paidUntil: T0 + 9, isFirstHand: true }, entry());
  await confirm(store.ledger, newRenew(2, T0 + 1000, { id: 'O2' }));
  const told: (readonly RenewalResult[])[] = [];
  const slack = { isUp: true };
  const notifyBatch = async (_batch: unknown, results: readonly RenewalResult[]) => {
    if (slack.isUp) told.push(results);
    return slack.isUp;
  };
  return { time, store, told, slack, ports: makePorts(store, { system, batchNotifier: { notifyBatch } }) };
}

test('renewals whose process crashed are reported once those that were begun have ended, and the rest is never begun', async () => {
  const { time, store, told, ports } = await startKilled();
  time.now += 4 * MINUTE_MS;
  // The background still carries on what was confirmed.
  await sweepBatches(ports);
  expect(told).toEqual([]);
  await store.ledger.refuse('O2', { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
  await sweepBatches(ports);
  await sweepBatches(ports);
  expect(told).toHaveLength(1);
  expect(told[0]?.map((each) => (each.kind === 'operation' ? each.operation.state : each.kind))).toEqual([
    'settled',
    'refused',
    'not_begun',
  ]);
  expect(await store.renewalBatches.start('F1', 2)).toBe(false);
});

test('renewals of a living process are left to it', async () => {
  const { time, store, told, ports } = await startKilled();
  await store.ledger.refuse('O2', { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
  time.now += 4 * MINUTE_MS;
  await store.lockLeases.take({ name: 'renewals F1', owner: 'alive' }, 10 * MINUTE_MS);
  await sweepBatches(ports);
  expect(told).toEqual([]);
});

test('an outcome that Slack refuses is sent again until Slack accepts it, for a day', async () => {
  const { time, store, told, slack, ports } = await startKilled();
  await store.ledger.refuse('O2', { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
  slack.isUp = false;
  time.now += 4 * MINUTE_MS;
  await sweepBatches(ports);
  expect((await store.renewalBatches.find('F1'))?.state).toBe('confirmed');
  slack.isUp = true;
  await sweepBatches(ports);
  expect(told).toHaveLength(1);
  expect((await store.renewalBatches.find('F1'))?.state).toBe('done');
});

test('what a frozen process begins later is not sent, since it was reported as not begun', async () => {
  const { time, store, told, ports } = await startKilled();
  await store.ledger.refuse('O2', { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());
  const batch = await store.renewalBatches.find('F1');
  if (!batch) throw new Error('the batch is gone');
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  const start: typeof store.renewalBatches.start = async () => {
    time.now += 4 * MINUTE_MS;
    await ports.lockLeases.release({ name: 'renewals F1', owner: 'still' });
    return true;
  };
  const late = { ...ports, ownersOf: () => ['U1'], renewalBatches: { ...store.renewalBatches, start } };
  await runBatch({ ...batch, renewals: batch.renewals.slice(2) }, { workspaceId: 'T1', userId: 'U1' }, late);
  const begun = await store.ledger.find('O3');
  expect(begun?.sendBy).toBe(T0 + SEND_WITHIN_MS);
  expect(begun?.state).not.toBe('sent');
  expect(told.length).toBeLessThanOrEqual(1);
});
