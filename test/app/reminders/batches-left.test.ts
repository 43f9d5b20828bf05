import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AppContext, Store } from '../../../src/context.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { MINUTE_MS, WEEK_MS } from '../../../src/core/time.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { SEND_WITHIN_MS } from '../../../src/purchases/operation.ts';
import { createBatchHandler, type RenewalResult } from '../../../src/reminders/batch.ts';
import { BATCH } from '../../../src/reminders/batch-store.ts';
import { confirm, entry, markSent, newRenew, stillSystem, T0, vault } from '../../store/fixtures.ts';
import { makePorts } from '../support/make-ports.ts';

const paidUntil = T0 + 30 * 24 * 60 * MINUTE_MS;
const makeBatch = (id = 'F1') => ({
  id,
  workspaceId: 'T1',
  actorId: 'U1',
  at: T0,
  renewals: [1, 2, 3].map((serverId) => ({ id: `${id}O${serverId}`, serverId, label: 'web-1', paidUntil })),
});
const kindsOf = (results: readonly RenewalResult[] = []) =>
  results.map((each) => (each.kind === 'operation' ? each.operation.state : each.kind));

describe('renewals whose process has died', () => {
  const time = { now: T0 };
  const system = { ...stillSystem, now: () => time.now };
  let store: Store;
  let told: (readonly RenewalResult[])[];
  let isSlackUp: boolean;
  let ports: AppContext;
  /** What the process left that has begun the batch: one renewal was paid, and one confirmed. */
  beforeEach(async () => {
    time.now = T0;
    told = [];
    isSlackUp = true;
    store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
    onTestFinished(() => store.close());
    await store.renewalBatches.put(makeBatch());
    await store.renewalBatches.confirm('F1', T0);
    const dead = await store.jobStore.lease(BATCH, 'F1', { owner: 'dead', now: T0, until: T0 + 30_000 });
    if (!dead) throw new Error('the job is gone');
    await store.jobStore.save(dead, { ...(dead.payload as object), begunBy: 'dead' });
    await confirm(store.ledger, newRenew(1, paidUntil, { id: 'F1O1' }));
    await markSent(store.ledger, 'F1O1', T0);
    const settled = { at: T0, serverId: 1, paidUntil: paidUntil + 9, isFirstHand: true };
    await store.ledger.settle('F1O1', settled, entry());
    await confirm(store.ledger, newRenew(2, paidUntil, { id: 'F1O2' }));
    await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
    ports = makePorts(store, {
      system,
      ownersOf: () => ['U1'],
      batchNotifier: {
        notifyBatch: async (_batch, results) => {
          if (isSlackUp) told.push(results);
          return isSlackUp;
        },
      },
    });
    ports.jobs.handle({ [BATCH]: createBatchHandler(ports) });
  });

  const runAfter = async (ms: number) => {
    time.now = T0 + ms;
    await ports.jobs.runDue();
  };
  const refuse = (id: string) =>
    store.ledger.refuse(id, { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());

  test('are reported once those that were begun have ended, and what can’t be sent in time is never begun', async () => {
    await runAfter(4 * MINUTE_MS);
    expect(told).toEqual([]);
    await refuse('F1O2');
    await runAfter(5 * MINUTE_MS);
    await runAfter(6 * MINUTE_MS);
    expect(told.map(kindsOf)).toEqual([['settled', 'refused', 'not_begun']]);
    expect(await store.ledger.find('F1O3')).toBeUndefined();
  });

  test('are gone on with while they can be sent in time', async () => {
    await refuse('F1O2');
    await runAfter(31_000);
    const begun = await store.ledger.find('F1O3');
    expect(begun?.sendBy).toBe(T0 + SEND_WITHIN_MS);
  });

  test('are not reported as refused by a rule before a frozen process can’t begin them any more', async () => {
    const budget = { ...DEFAULT_SETTINGS, freeze: { by: 'U9', since: T0 } };
    await store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, budget);
    await refuse('F1O2');
    await runAfter(31_000);
    await runAfter(SEND_WITHIN_MS + 1000);
    expect(told).toEqual([]);
    await runAfter(SEND_WITHIN_MS + MINUTE_MS);
    expect(told.map(kindsOf)).toEqual([['settled', 'refused', 'failed']]);
    expect(told[0]?.[2]).toMatchObject({ error: { code: 'purchases_frozen' } });
  });

  test('are told of again until Slack takes the message, for a day, and are then forgotten within a week', async () => {
    await refuse('F1O2');
    isSlackUp = false;
    await runAfter(4 * MINUTE_MS);
    expect((await store.renewalBatches.find('F1'))?.state).toBe('confirmed');
    isSlackUp = true;
    await runAfter(10 * MINUTE_MS);
    await runAfter(20 * MINUTE_MS);
    expect(told).toHaveLength(1);
    expect((await store.renewalBatches.find('F1'))?.state).toBe('done');
    await runAfter(WEEK_MS);
    expect(await store.renewalBatches.find('F1')).toBeUndefined();
  });
});

test('a review that nobody confirms is forgotten after a week', async () => {
  const time = { now: T0 };
  const system = { ...stillSystem, now: () => time.now };
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  onTestFinished(() => store.close());
  const { jobs, renewalBatches } = makePorts(store, { system });
  jobs.handle({ [BATCH]: createBatchHandler(makePorts(store, { system })) });
  await renewalBatches.put(makeBatch());
  for (const [at, isThere] of [
    [WEEK_MS - 1, true],
    [WEEK_MS, false],
  ] as const) {
    time.now = T0 + at;
    await jobs.runDue();
    expect((await renewalBatches.find('F1')) !== undefined).toBe(isThere);
  }
});
