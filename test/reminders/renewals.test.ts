import { beforeEach, describe, expect, test } from 'vitest';
import type { AppContext, Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { DAY_MS, MINUTE_MS, WEEK_MS } from '../../src/core/time.ts';
import { CommitUnknown } from '../../src/db/database.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/operation.ts';
import { BATCH, createBatchHandler, type RenewalResult, reviewRenewals } from '../../src/reminders/batch.ts';
import { confirm, entry, markSent, newGrant, newRenew, open, stillSystem, T0 } from '../db/support.ts';
import { makeContext, makeHosting } from '../support/context.ts';

const paidUntil = T0 + 30 * DAY_MS;
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
    store = await open('sqlite::memory:', { system });
    await store.renewalBatches.put(makeBatch());
    await store.renewalBatches.confirm('F1', T0);
    const dead = await store.jobStore.lease(BATCH, 'F1', { owner: 'dead', now: T0, until: T0 + 30_000 });
    if (!dead) throw new Error('the job is gone');
    await store.jobStore.save(dead, { ...(dead.payload as object), begunBy: 'dead' });
    await confirm(store.ledger, newRenew(1, paidUntil, { id: 'F1O1' }));
    await markSent(store, 'F1O1', T0);
    await settle('F1O1', 1);
    await confirm(store.ledger, newRenew(2, paidUntil, { id: 'F1O2' }));
    await store.workspaces.put({ id: 'T1', name: 'Acme' });
    ports = makeContext(store, {
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
  const settle = (id: string, serverId: number) =>
    store.ledger.settle(id, { at: T0, serverId, paidUntil: paidUntil + 9, isFirstHand: true }, entry());
  /** Begins another batch with the same months, while the database fails to store a confirmation. */
  const beginWith = async (error: Error) => {
    const ledger = { ...store.ledger, prepare: () => Promise.reject(error) };
    await store.renewalBatches.put(makeBatch('F2'));
    await store.renewalBatches.confirm('F2', T0);
    await ports.jobs.runNow(BATCH, 'F2', createBatchHandler({ ...ports, ledger }));
  };
  const refuse = (id: string) =>
    store.ledger.refuse(id, { at: T0, reason: { code: 'stale_confirmation', details: {} } }, entry());

  test.each([
    ['confirmed', 'refused', async () => {}, () => refuse('F1O2')],
    ['sent', 'settled', () => markSent(store, 'F1O2', T0), () => settle('F1O2', 2)],
  ] as const)('are reported once the last one that was %s has been %s, and what can’t be sent in time is never begun', async (_was, state, begin, end) => {
    await begin();
    await runAfter(4 * MINUTE_MS);
    expect(told).toEqual([]);
    await end();
    await runAfter(5 * MINUTE_MS);
    await runAfter(6 * MINUTE_MS);
    expect(told.map(kindsOf)).toEqual([['settled', state, 'not_begun']]);
    expect(await store.ledger.find('F1O3')).toBeUndefined();
  });

  test('are continued while they can be sent in time', async () => {
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

  test('are not reported as not begun while a commit whose outcome was unknown may still have confirmed them', async () => {
    await beginWith(new CommitUnknown(new Error('connection lost')));
    expect(told).toEqual([]);
    // The database shows it a moment later, and its job pays it.
    await confirm(store.ledger, newRenew(3, paidUntil, { id: 'F2O3' }));
    await markSent(store, 'F2O3', T0);
    await settle('F2O3', 3);
    time.now = T0 + 4 * MINUTE_MS;
    await ports.jobs.runNow(BATCH, 'F2');
    expect(told.map(kindsOf)).toEqual([['settled', 'prepared', 'settled']]);
  });

  test('are reported at once when one of them could not be confirmed and certainly was not', async () => {
    await beginWith(new Error('the disk is full'));
    expect(told.map(kindsOf)).toEqual([['settled', 'prepared', 'not_begun']]);
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

const LATER: Server = { id: 1, label: 'web-1', state: 'running', paidUntil: T0 + 200 * DAY_MS };
const OVER: Server = { id: 3, label: 'web-3', state: 'running', paidUntil: T0 - 2 * DAY_MS };
const SOON: Server = { id: 2, label: 'web-2', state: 'running', paidUntil: T0 + DAY_MS };

/** What a manager gets to read, where the hosting API lists these servers. */
async function review(servers: readonly Server[], isComplete: boolean) {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
  await store.grants.put(newGrant({ subjectId: 'U1', role: 'manager' }));
  const api = makeHosting({
    fetchServers: async () => ({ servers, extent: isComplete ? 'whole' : 'part', unreadableCount: 0 }),
  });
  const entry = createEntry(makeContext(store, { hostingOf: () => api }));
  const caller = { actor: { workspaceId: 'T1', userId: 'U1' }, surface: 'button' } as const;
  return entry.execute(reviewRenewals, { formId: 'F1' }, caller);
}

test('servers whose paid time is over can be renewed together with the others, and come first', async () => {
  await expect(review([LATER, SOON, OVER], true)).resolves.toMatchObject({
    renewals: [{ server: OVER }, { server: SOON }],
  });
});

test('that nothing has to be renewed is said only of a complete list, and what an incomplete one shows can be', async () => {
  await expect(review([LATER], true)).rejects.toMatchObject({ code: 'nothing_to_renew' });
  await expect(review([LATER], false)).rejects.toMatchObject({ code: 'list_incomplete' });
  await expect(review([LATER, SOON], false)).resolves.toMatchObject({ renewals: [{ server: SOON }] });
});
