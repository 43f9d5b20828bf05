import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { MINUTE_MS } from '../../src/core/time.ts';
import { openStore } from '../../src/db/open-store.ts';
import { Limiter } from '../../src/hosting/limiter.ts';
import { realSystem } from '../../src/system.ts';
import { vault } from '../db/fixtures.ts';
import { mostInAnyWindow } from '../hosting/support.ts';
import type { Figure } from './figures.ts';

// How many calls of one account reach the service in ANY minute, and how near does that come to the limit? Real time and real
// sockets: a call at first and then, when its minute is nearly over, more than can ever leave, which is what misleads a counter that
// is refilled by the clock. Three limiters stand for three processes, and share the slots of one store on SQLite. The service counts
// when each call arrived, on the monotonic clock.
const LIMIT = 300;
const LEAST = 298;
const QUIET_MS = 10_000;
const RUN_MS = 75_000;
const LATENCY_MS = 40;
const CALLS = 3 * LIMIT;

/** Keeps three limiters busy for 75 s. */
export async function measureLimiter(): Promise<readonly Figure[]> {
  const arrivals: number[] = [];
  const server = createServer((_request, response) => {
    arrivals.push(performance.now());
    setTimeout(() => response.end(), Math.random() * LATENCY_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 32 });
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: realSystem });
  const options = { system: realSystem, calls: store.apiCalls, account: ['bench'] as const };
  const limiters = [1, 2, 3].map(() => new Limiter({ ...options, timeoutMs: 5000, maxWaitMs: 2 * RUN_MS }));
  const send = async () => (await pool.request({ path: '/', method: 'GET' })).body.dump();
  const ask = (at: number) =>
    void limiters[at % limiters.length]?.run({ urgency: 'user', send }).catch(() => undefined);
  ask(0);
  await realSystem.sleep(QUIET_MS);
  for (let call = 1; call < CALLS; call++) ask(call);
  await realSystem.sleep(RUN_MS - QUIET_MS);
  for (const limiter of limiters) limiter.close();
  await store.close();
  await pool.close();
  server.close();
  const most = mostInAnyWindow(arrivals);
  const sustained = countSustained(arrivals.slice(1));
  return [
    {
      what: 'requests in the fullest minute, and a minute while all wait (three limiters)',
      measured: `${most}, ${sustained.toFixed(1)}`,
      aim: `≤ ${LIMIT}, ≥ ${LEAST}`,
      isMet: most <= LIMIT && sustained >= LEAST,
    },
  ];
}

/** Whole rounds of the limit only, so that it does not matter where in a round the run ended. */
function countSustained(times: readonly number[]): number {
  const rounds = Math.floor((times.length - 1) / LIMIT);
  const tookMs = (times[rounds * LIMIT] ?? 0) - (times[0] ?? 0);
  return (rounds * LIMIT * MINUTE_MS) / tookMs;
}
