import { expect, onTestFinished, test } from 'vitest';
import { runBackground } from '../src/background.ts';
import { money } from '../src/core/money.ts';
import { realSystem } from '../src/system.ts';
import { leaseOperation, newCreate, sentBy } from './db/fixtures.ts';
import { type Client, openScenario } from './purchases/support/scenario.ts';

const LEASE_MS = 45_000;

test('many orders that wait for one of a dead process don’t keep that from being taken over', async () => {
  const scenario = await openScenario();
  const { clock, store } = scenario;
  const { ledger } = store;
  const at = clock.now();
  const dead = newCreate('dead', { id: 'dead', at, price: money(499) });
  await ledger.prepare(dead);
  await leaseOperation(store, dead.id, { owner: 'dead', now: at, until: at + LEASE_MS });
  const permit = await ledger.readPermit(dead.workspaceId, at);
  expect(await ledger.markSent(dead.id, sentBy('dead', at, { permit }))).toBe('sent');
  const waiting = Array.from({ length: 12 }, (_, number) =>
    newCreate(`web-${number}`, { id: `waiting-${number}`, at: at + 1, price: money(499) }),
  );
  for (const operation of waiting) await ledger.prepare(operation);
  const { ports, entry } = scenario.start();
  const stop = new AbortController();
  const running = runBackground(ports, entry, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await clock.run(running);
    await scenario.close();
  });
  while (clock.now() - at < 110_000) {
    await clock.pass(500);
    // What reads files goes on after a while only.
    await realSystem.sleep(2);
  }
  const stateOf = async (id: string) => {
    const found = await ledger.find(id);
    return [found?.state, found?.reason?.code].filter(Boolean).join(' ');
  };
  expect(await stateOf('dead')).toMatch(/^unconfirmed/);
  expect(await Promise.all(waiting.map(({ id }) => stateOf(id)))).toEqual(waiting.map(() => 'settled'));
});

/** Tables that the background uses; each may fail while the others still work. */
const TABLES = ['any table', 'workflow_runs', 'jobs', 'passwords', 'kept', 'audit'];

test.each(
  TABLES,
)('while the database fails (%s), nothing ends the process, and all of it goes on afterwards', async (table) => {
  const scenario = await openScenario();
  const { clock, store, database } = scenario;
  const { ports, entry } = scenario.start();
  let isAway = true;
  let failures = 0;
  const client: Client = {
    step: (name) => {
      if (!isAway || !(table === 'any table' || name.includes(table))) return 'passes';
      failures += 1;
      return 'fails';
    },
  };
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const stop = new AbortController();
  const worker = database.belongingTo(client, { run: () => runBackground(ports, entry, stop.signal) });
  const running = worker.run();
  onTestFinished(async () => {
    process.off('unhandledRejection', note);
    await scenario.close();
  });
  const pass = async (ms: number) => {
    for (const end = clock.now() + ms; clock.now() < end; await clock.pass(500)) await realSystem.sleep(1);
  };
  await pass(90_000);
  expect(failures).toBeGreaterThan(0);
  isAway = false;
  await store.ledger.prepare(newCreate('left', { id: 'left', at: clock.now(), price: money(499) }));
  await pass(30_000);
  expect(await store.ledger.find('left')).toMatchObject({ state: 'settled' });
  expect(await store.jobStore.list('expire', '')).toHaveLength(1);
  stop.abort();
  await clock.run(running);
  expect(unhandled).toEqual([]);
});
