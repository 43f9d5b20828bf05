import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Limiter } from '../../src/hosting/limit.ts';
import { openRedis } from '../../src/hosting/redis.ts';
import { realSystem } from '../../src/system.ts';
import { open } from '../store/support.ts';
import { asInTests } from '../support/postgres.ts';
import { SCALED, WINDOW_MS } from './redis-scale.ts';

/** The hosting service: counts when calls arrive, and answers after up to 40 ms. */
export interface CountingService {
  readonly url: string;
  readonly arrivals: readonly number[];
  /** The most arrivals in any window, wherever it begins. */
  mostInAnyWindow(): number;
}

export async function startService(): Promise<CountingService> {
  const arrivals: number[] = [];
  const server = createServer((_request, response) => {
    arrivals.push(performance.now());
    setTimeout(() => response.end(), Math.random() * 40);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const mostInAnyWindow = () => {
    let [most, first] = [0, 0];
    for (const [index, at] of arrivals.entries()) {
      while (at - (arrivals[first] ?? at) >= WINDOW_MS) first++;
      most = Math.max(most, index - first + 1);
    }
    return most;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, mostInAnyWindow };
}

/** What one process of the app has of the limiter: connections of its own to the database and to Redis. */
export interface Member {
  readonly limiter: Limiter;
  readonly log: readonly string[];
  readonly warnings: () => readonly string[];
  /** How many of its calls have been sent. */
  sent(): number;
  /** How often it has asked the database for a slot. */
  tries(): number;
  /** Makes so many calls at once; resolves when all of them are answered. */
  call(count: number): Promise<void>;
}

export async function startMember(
  databaseUrl: string,
  redisUrl: string,
  service: CountingService,
): Promise<Member> {
  const store = await open(databaseUrl, { system: realSystem, openEngine: asInTests, maxProcesses: 20 });
  const log: string[] = [];
  const write = (words: string, { cause }: { readonly cause?: string | undefined } = {}) =>
    void log.push(cause === undefined ? words : `${words}: ${cause}`);
  const redis = openRedis({ url: redisUrl, system: realSystem, log: { info: write, warn: write } });
  redis.start();
  let [sent, tries] = [0, 0];
  const take: typeof store.apiCalls.take = (...given) => {
    tries++;
    return store.apiCalls.take(...given);
  };
  const limiter = new Limiter({
    ...SCALED,
    system: realSystem,
    calls: { ...store.apiCalls, take },
    queues: redis,
  });
  onTestFinished(() => {
    limiter.close();
    redis.close();
  });
  const send = async () => {
    sent++;
    await (await fetch(service.url)).text();
  };
  const call = async (count: number) => {
    await Promise.all(Array.from({ length: count }, () => limiter.run({ urgency: 'user', send })));
  };
  return { limiter, log, warnings: redis.warnings, sent: () => sent, tries: () => tries, call };
}
