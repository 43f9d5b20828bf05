import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isLong, sayLeftOut, triesOf } from '../attacks/support/tries.ts';
import { makePostgres } from '../store/support.ts';
import { postgresUrl } from '../support/postgres.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { LIMIT, WINDOW_MS } from './redis-scale.ts';
import { startService } from './redis-support.ts';

/** Starts a process with a limiter (`redis-process.ts`). */
async function startProcess(databaseUrl: string, redisUrl: string, serviceUrl: string, clockOffMs = 0) {
  const script = fileURLToPath(new URL('./redis-process.ts', import.meta.url));
  const args = ['--import', 'tsx', script, databaseUrl, redisUrl, serviceUrl, String(clockOffMs)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines).toEqual(['ready']);
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return {
    lines,
    ended,
    say: (line: string | number) => void child.stdin.write(`${line}\n`),
    kill: () => void child.kill('SIGKILL'),
  };
}

async function startProcesses(redisUrl: string, clocksOffMs: readonly number[]) {
  const service = await startService();
  const databaseUrl = await makePostgres();
  const processes = [];
  for (const offMs of clocksOffMs)
    processes.push(await startProcess(databaseUrl, redisUrl, service.url, offMs));
  await sleep(1000);
  return { service, processes };
}

const ENDINGS = ['is stuck', 'answers', 'is gone'].slice(0, triesOf({ short: 1, long: 3 }));
sayLeftOut(isLong ? 0 : 3, 'tests of killed and ending processes over Redis');

describe.skipIf(!hasRedis || !postgresUrl)('processes that share the limit over Redis', () => {
  test('stay within it, and use all of it, with wall clocks that are 15 s off', async () => {
    const redis = await startRedis();
    const { service, processes } = await startProcesses(redis.url, [0, 15_000, -15_000]);
    for (const { say } of processes) say(40);
    await expect.poll(() => service.arrivals.length).toBe(120);
    expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    const tookMs = (service.arrivals.at(-1) ?? 0) - (service.arrivals[0] ?? 0);
    expect(tookMs).toBeLessThan(3 * WINDOW_MS * 2);
  });

  test.runIf(isLong)(
    'get the slots of one that was killed with kill -9, and not before its calls are over',
    async () => {
      const redis = await startRedis();
      const { service, processes } = await startProcesses(redis.url, [0, 0]);
      const [dies, lives] = processes;
      dies?.say(2 * LIMIT);
      await expect.poll(() => service.arrivals.length).toBe(LIMIT);
      dies?.kill();
      expect(await dies?.ended).toBe('SIGKILL');
      lives?.say(2 * LIMIT);
      // As long as a call may take: 15 s to prepare, 1 s to be answered, 5 s in transit, and the window.
      await expect.poll(() => lives?.lines, { timeout: 45_000 }).toEqual(['ready', 'answered']);
      expect(service.arrivals).toHaveLength(3 * LIMIT);
      expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    },
  );

  test.each(ENDINGS)('end at once when they are closed while calls wait and Redis %s', async (state) => {
    const redis = await startRedis();
    const { service, processes } = await startProcesses(redis.url, [0, 0]);
    for (const { say } of processes) say(2 * LIMIT);
    await expect.poll(() => service.arrivals.length).toBe(LIMIT);
    if (state === 'is stuck') await redis.client.call('client', 'pause', '20000', 'all');
    if (state === 'is gone') await redis.stop();
    const startedAt = performance.now();
    for (const { say } of processes) say('close');
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(performance.now() - startedAt).toBeLessThan(6000);
    for (const { lines } of processes) expect(lines).toEqual(['ready', 'refused shutting_down']);
  });
});
