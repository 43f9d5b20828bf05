import { expect, onTestFinished, test } from 'vitest';
import { createLocks } from '../../../src/core/locks.ts';
import { Secret } from '../../../src/core/secret.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { createHosting } from '../../../src/hosting/client.ts';
import type { Transport } from '../../../src/hosting/send.ts';
import { silentLog } from '../../../src/log.ts';
import { runOperation } from '../../../src/purchases/pay.ts';
import { holdTime } from '../../hosting/support.ts';
import { newRenew, vault } from '../../store/fixtures.ts';
import { makePorts } from '../support/make-ports.ts';

const LIMIT = 10;
const PAID_UNTIL = Date.UTC(2027, 0, 1);
const RENEWED_UNTIL = Date.UTC(2027, 1, 1);

const writeServer = (id: number, paidUntil: number) => ({
  id,
  label: 'web-1',
  state: 'running',
  paid_until: new Date(paidUntil).toISOString(),
});

/** A hosting service with so many servers that answers at once, and notes when it was asked what. */
function startService(count: number, now: () => number) {
  const renewed = new Set<number>();
  const arrivals: number[] = [];
  const send: Transport['send'] = async ({ method, path }) => {
    arrivals.push(now());
    if (method === 'GET') {
      const list = Array.from({ length: count }, (_, place) =>
        writeServer(place + 1, renewed.has(place + 1) ? RENEWED_UNTIL : PAID_UNTIL),
      );
      return { status: 200, text: JSON.stringify(list) };
    }
    const id = Number(path.split('/')[2]);
    renewed.add(id);
    return { status: 200, text: JSON.stringify(writeServer(id, RENEWED_UNTIL)) };
  };
  const transport: Transport = { send, close: async () => {} };
  return { renewed, arrivals, transport };
}

/** A workspace on an account whose minute holds ten requests, and renewals that were confirmed just now. */
async function confirmRenewals(count: number) {
  const { system, pass } = holdTime();
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  const service = startService(count, () => system.elapsed());
  const hosting = createHosting({
    ...{ baseUrl: 'http://x/v1', timeoutMs: 30_000, system, limit: LIMIT },
    ...{ calls: store.apiCalls, transport: service.transport, namesOf: vault.namesOf },
  });
  onTestFinished(async () => {
    await hosting.close();
    await store.close();
  });
  const at = system.now();
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, at);
  await store.apiKeys.put('T1', new Secret('key'), 'U1', at);
  const ids: string[] = [];
  for (let serverId = 1; serverId <= count; serverId++) {
    const { id } = newRenew(serverId, PAID_UNTIL, { at, id: system.newId() });
    await store.ledger.prepare(newRenew(serverId, PAID_UNTIL, { at, id }));
    ids.push(id);
  }
  const ports = makePorts(store, {
    system,
    ownersOf: () => ['U1'],
    hostingOf: hosting.of,
    locks: createLocks({ leases: store.lockLeases, system, log: silentLog }),
  });
  const run = () => Promise.all(ids.map((id) => runOperation(id, ports)));
  return { ...service, pass, run, store, ids };
}

test('more renewals at once than the limit holds are sent as far as it goes, and none holds up the others', async () => {
  const { pass, run, renewed, arrivals, store, ids } = await confirmRenewals(60);
  const running = run();
  await pass(1_000);
  // The first minute: one list, and nine renewals.
  expect(renewed.size).toBe(LIMIT - 1);
  await pass(130_000);
  await running;
  // The second minute: each of the others had to look its month up again, together with all others.
  expect(renewed.size).toBeGreaterThanOrEqual(2 * LIMIT - 4);
  const states = await Promise.all(ids.map(async (id) => (await store.ledger.find(id))?.state));
  expect(states.filter((state) => state === 'settled')).toHaveLength(renewed.size);
  expect(new Set(states)).toEqual(new Set(['settled', 'refused']));
  for (const from of arrivals)
    expect(arrivals.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(LIMIT);
});
