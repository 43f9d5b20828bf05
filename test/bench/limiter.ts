import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Bottleneck from 'bottleneck';
import { Pool } from 'undici';
import type { ApiCalls } from '../../src/hosting/hosting-api.ts';
import { Limiter } from '../../src/hosting/limiter.ts';
import { realSystem } from '../../src/system.ts';

// The question: how many calls of a limiter reach the service in ANY window, and how near does it come to the limit?
// Real time and real sockets, scaled down: 30 calls per 3 s stand for 300 per minute. All limiters run side by side
// against one server in this process, which counts when each call arrived, on the monotonic clock.
const LIMIT = 30;
const WINDOW_MS = 3_000;
const RUN_MS = 20_000;
const LATENCY_MS = 40;

type Send = () => Promise<unknown>;
type Contender = {
  readonly name: string;
  readonly schedule: (send: Send) => Promise<unknown>;
  readonly stop: () => void;
  /** How often the store was asked for a slot. */
  readonly tries?: () => number;
};

const SCALED = { timeoutMs: WINDOW_MS, limit: LIMIT, windowMs: WINDOW_MS, maxWaitMs: 10 * RUN_MS };
const SLOT = 'held slot (src/hosting/limiter.ts)';

const heldSlot = (): Contender => {
  const limiter = new Limiter({
    system: realSystem,
    calls: {
      take: async () => true,
      release: async () => {},
      listTaken: async () => [],
    },
    account: ['bench'],
    ...SCALED,
  });
  const schedule = (send: Send) => limiter.run({ urgency: 'user', send });
  return { name: SLOT, schedule, stop: () => limiter.close() };
};

/** Three processes that share slots, here in memory. */
const threeProcesses = (): Contender => {
  const taken = new Set<string>();
  let tries = 0;
  const take: ApiCalls['take'] = async ({ id }, { limit }, freed = []) => {
    tries++;
    for (const over of freed) taken.delete(over);
    return taken.size < limit && taken.add(id).has(id);
  };
  const release: ApiCalls['release'] = async (ids) => {
    for (const id of ids) taken.delete(id);
  };
  const calls: ApiCalls = { take, release, listTaken: async () => [...taken] };
  const limiters = [1, 2, 3].map(
    () => new Limiter({ ...SCALED, system: realSystem, calls, account: ['bench'] }),
  );
  let count = 0;
  const schedule = (send: Send) => {
    const limiter = limiters[count++ % limiters.length];
    return limiter?.run({ urgency: 'user', send }) ?? Promise.reject(new Error('there is no process'));
  };
  const stop = () => {
    for (const limiter of limiters) limiter.close();
  };
  return { name: 'held slots, 3 processes', schedule, stop, tries: () => tries };
};

const bottleneck = (name: string, options: Bottleneck.ConstructorOptions): Contender => {
  const limiter = new Bottleneck(options);
  const stop = () => void limiter.stop({ dropWaitingJobs: true }).catch(() => {});
  return { name, schedule: (send) => limiter.schedule(send), stop };
};

const CONTENDERS: readonly Contender[] = [
  heldSlot(),
  threeProcesses(),
  bottleneck('Bottleneck, reservoir refresh', {
    reservoir: LIMIT,
    reservoirRefreshAmount: LIMIT,
    reservoirRefreshInterval: WINDOW_MS,
  }),
  bottleneck('Bottleneck, minTime', { minTime: WINDOW_MS / LIMIT }),
];

const arrivals = new Map<string, number[]>(CONTENDERS.map(({ name }) => [name, []]));
const server = createServer((request, response) => {
  const name = decodeURIComponent((request.url ?? '').slice(1));
  arrivals.get(name)?.push(performance.now());
  setTimeout(() => response.end(), Math.random() * LATENCY_MS);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 32 });

const startedAt = performance.now();
await Promise.all(CONTENDERS.map(play));
for (const { stop } of CONTENDERS) stop();
await pool.close();
server.close();

console.log(`limit ${LIMIT} per ${WINDOW_MS} ms, ${RUN_MS} ms, answers after 0 to ${LATENCY_MS} ms\n`);
console.table(
  Object.fromEntries(CONTENDERS.map(({ name, tries }) => [name, describe(arrivals.get(name) ?? [], tries)])),
);
for (const { name } of CONTENDERS.filter(({ name }) => name.startsWith('held slot'))) {
  const most = mostInAnyWindow(arrivals.get(name) ?? []);
  if (most <= LIMIT) continue;
  console.error(`${name} let ${most} calls into one window: the limit is ${LIMIT}.`);
  process.exitCode = 1;
}

/** First one call and then, when its window is nearly over, more than can ever leave: what bursts do to a reservoir. */
async function play({ name, schedule }: Contender): Promise<void> {
  const send = async () => {
    const { body } = await pool.request({ path: `/${encodeURIComponent(name)}`, method: 'GET' });
    await body.dump();
  };
  const ask = () => void schedule(send).catch(() => {});
  ask();
  await realSystem.sleep(WINDOW_MS * 0.9);
  for (let call = 0; call < LIMIT * (RUN_MS / WINDOW_MS) * 3; call++) ask();
  await realSystem.sleep(startedAt + RUN_MS - performance.now());
}

function describe(times: readonly number[], tries?: () => number) {
  const burst = times.filter((at) => at - startedAt > WINDOW_MS * 0.8);
  const from = burst[0] ?? 0;
  // Whole rounds of the limit only, so that it does not matter where in a round the run ended.
  const rounds = Math.floor((burst.length - 1) / LIMIT);
  const sustained = (rounds * LIMIT * WINDOW_MS) / ((burst[rounds * LIMIT] ?? from) - from);
  return {
    'most in any window': mostInAnyWindow(times),
    'per window, sustained': Number(sustained.toFixed(1)),
    'share of the limit': `${Math.round((100 * sustained) / LIMIT)} %`,
    'store asked, per call': tries ? (tries() / times.length).toFixed(1) : '',
    [`first ${LIMIT} of a burst`]: `${Math.round((burst[LIMIT - 1] ?? Number.NaN) - from)} ms`,
  };
}

function mostInAnyWindow(times: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [index, at] of times.entries()) {
    while (at - (times[first] ?? at) >= WINDOW_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
