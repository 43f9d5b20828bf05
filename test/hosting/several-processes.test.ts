import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePostgres } from '../db/support.ts';
import { postgresUrl } from '../support/postgres.ts';
import { isLong, sayLeftOut } from '../support/tries.ts';
import { mostInAnyWindow } from './support.ts';

/** 30 calls per 2 s stand for 300 per minute. */
const LIMIT = 30;
const WINDOW_MS = 2000;

/** Stands for the hosting API: notes when calls arrive, and answers after up to 40 ms. */
async function startService() {
  const arrivals: number[] = [];
  const requests: { readonly url: string; readonly at: number }[] = [];
  const server = createServer(({ url = '' }, response) => {
    const at = performance.now();
    arrivals.push(at);
    requests.push({ url, at });
    setTimeout(() => response.end(), Math.random() * 40);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, requests };
}

/** Starts a process with a limiter (`limiter-process.ts`). */
async function startProcess(databaseUrl: string, serviceUrl: string, clockOffMs: number) {
  const script = fileURLToPath(new URL('./limiter-process.ts', import.meta.url));
  const scale = [LIMIT, WINDOW_MS, clockOffMs].map(String);
  const args = ['--import', 'tsx', script, databaseUrl, serviceUrl, ...scale];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines).toEqual(['ready']);
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return {
    lines,
    ended,
    /** Makes so many calls. */
    ask: (count: number, key = 'key', workspaceId = 'T1') =>
      void child.stdin.write(`${count} ${key} ${workspaceId}\n`),
    close: () => void child.stdin.write('close\n'),
    kill: () => void child.kill('SIGKILL'),
  };
}

async function startProcesses(clocksOffMs: readonly number[]) {
  const service = await startService();
  const databaseUrl = await makePostgres();
  const processes = [];
  for (const offMs of clocksOffMs) processes.push(await startProcess(databaseUrl, service.url, offMs));
  return { service, processes };
}

sayLeftOut(isLong ? 0 : 1, 'tests of killed processes that share the rate limit');

describe.skipIf(!postgresUrl)('processes that share the rate limit', () => {
  test('stay within it, and use all of it, with every API key and from every workspace, with wall clocks that are 15 s apart', async () => {
    const { service, processes } = await startProcesses([0, 15_000, -15_000]);
    const [one, two, three] = processes;
    one?.ask(40, 'old', 'T1');
    await expect.poll(() => service.arrivals.length).toBe(LIMIT);
    two?.ask(40, 'new', 'T1');
    three?.ask(40, 'new', 'T2');
    one?.ask(40, 'new', 'T2');
    await expect.poll(() => service.arrivals.length, { timeout: 40_000 }).toBe(160);
    const tookMs = (service.arrivals.at(-1) ?? 0) - (service.arrivals[0] ?? 0);
    expect(tookMs).toBeLessThan(4 * (WINDOW_MS + 3000) * 2);
    for (const name of ['/old/', '/new/', '/T1', '/T2']) {
      const times = service.requests.filter(({ url }) => url.includes(name)).map(({ at }) => at);
      expect(mostInAnyWindow(times, WINDOW_MS), name).toBeLessThanOrEqual(LIMIT);
    }
  });

  test.runIf(isLong)(
    'get the slots of one that was killed with kill -9, and not before its calls are over',
    async () => {
      const { service, processes } = await startProcesses([0, 0]);
      const [dies, lives] = processes;
      dies?.ask(2 * LIMIT);
      await expect.poll(() => service.arrivals.length).toBe(LIMIT);
      dies?.kill();
      expect(await dies?.ended).toBe('SIGKILL');
      lives?.ask(2 * LIMIT, 'key', 'T2');
      // As long as a call may take: 15 s to prepare, 1 s to be answered, 5 s in transit, and the window.
      await expect.poll(() => lives?.lines, { timeout: 60_000 }).toEqual(['ready', 'answered']);
      expect(service.arrivals).toHaveLength(3 * LIMIT);
      expect(mostInAnyWindow(service.arrivals, WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    },
  );

  test('end at once when they are closed while calls are waiting', async () => {
    const { service, processes } = await startProcesses([0, 0]);
    for (const { ask } of processes) ask(2 * LIMIT);
    await expect.poll(() => service.arrivals.length).toBe(LIMIT);
    const startedAt = performance.now();
    for (const { close } of processes) close();
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(performance.now() - startedAt).toBeLessThan(6000);
    for (const { lines } of processes) expect(lines).toEqual(['ready', 'refused shutting_down']);
  });
});
