import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { Secret } from '../../src/core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { OPERATION } from '../../src/purchases/operation.ts';
import { createOperationHandler } from '../../src/purchases/pay.ts';
import { BATCH, confirmRenewals, createBatchHandler, type RenewalResult } from '../../src/reminders/batch.ts';
import type { System } from '../../src/system.ts';
import { T0 } from '../db/fixtures.ts';
import { type Place, places } from '../db/places.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';
import { casesOf, shareDatabase, strideOf } from '../support/mortal.ts';

const paidUntil = T0 + 30 * DAY_MS;

/** Processes with an account of three servers, each of which can be renewed. */
function shareBatches(place: Place) {
  const seen = { paid: [] as number[], told: [] as (readonly RenewalResult[])[] };
  const servers = [1, 2, 3].map((id) => ({ id, label: 'web-1', state: 'running', paidUntil }));
  const api = makeHosting({
    account: ['key'],
    fetchServers: async () => wholeList(servers),
    renewServer: async (id, options) => {
      await options?.beforeSend?.();
      seen.paid.push(id);
      return { id, paidUntil: paidUntil + 1000 };
    },
  });
  const start = (store: Store, system: System) => {
    const ports = makeContext(store, {
      system,
      hostingOf: () => api,
      ownersOf: () => ['U1'],
      batchNotifier: { notifyBatch: async (_batch, results) => seen.told.push(results) > 0 },
    });
    const own = createEntry(ports);
    ports.jobs.handle({
      [BATCH]: createBatchHandler(ports),
      [OPERATION]: createOperationHandler(ports),
    });
    const press = async (id: string) => {
      const actor = { workspaceId: 'T1', userId: 'U1' };
      await own.execute(confirmRenewals, { id }, { actor, surface: 'modal' });
      await own.drain();
    };
    return { jobs: ports.jobs, press };
  };
  return { seen, servers, ...shareDatabase(place, start) };
}

describe.each(places)('renewals that are confirmed together on $name', (engine) => {
  test.each(
    casesOf(engine, [['dies'], ['commit unknown']]),
  )('are paid once each at most, and reported, wherever their process does (%s)', async (kind) => {
    const place = await engine.make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    // Twice, since a busy machine may cut a try short.
    for (let unstruck = 0; unstruck < 2; at += strideOf(kind)) {
      const { seen, servers, system, pass, startMortal, startImmortal } = shareBatches(place);
      const other = await startImmortal();
      const { store } = other;
      await store.workspaces.put({ id: 'T1', name: 'Acme' });
      await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
      // Other months of the same servers each time.
      const until = paidUntil + at;
      for (const server of servers) server.paidUntil = until;
      const id = `F${String(at).padStart(4, '0')}`;
      const renewals = [1, 2].map((serverId) => ({
        ...{ id: `${id}O${serverId}`, serverId, label: 'web-1' },
        paidUntil: until,
      }));
      const by = { workspaceId: 'T1', actorId: 'U1', at: system.now() };
      await store.renewalBatches.put({ id, ...by, renewals });
      const mortal = await startMortal({ kind, at: at + 1 });
      await pass(12_000, mortal.press(id));
      unstruck = mortal.steps() > at ? 0 : unstruck + 1;
      const found = await store.renewalBatches.find(id);
      await pass(6 * MINUTE_MS);
      const isConfirmed = found?.state !== 'open';
      expect({ at, paid: [...seen.paid].sort() }).toEqual({ at, paid: [...new Set(seen.paid)].sort() });
      expect({ at, told: seen.told.length > 0 }).toEqual({ at, told: isConfirmed });
      // What Slack took and nobody could store is told once more.
      expect(seen.told.length).toBeLessThanOrEqual(2);
      for (const results of seen.told)
        for (const result of results) {
          const kindOf = result.kind === 'operation' ? result.operation.state : result.kind;
          const isPaid = seen.paid.includes(result.renewal.serverId);
          expect({ at, isPaid, kindOf }).toMatchObject({
            kindOf: expect.stringMatching(
              isPaid ? /^(settled|unconfirmed)$/ : /^(refused|unconfirmed|not_begun)$/,
            ),
          });
        }
      await pass(MINUTE_MS, Promise.all([other.close(), mortal.store.close()]));
    }
    expect(at).toBeGreaterThan(kind === 'dies' ? 30 : 8);
  }, 600_000);
});
