import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { waitForPort } from '../support/killable-team.ts';
import { atMost, type Figure, median } from './figures.ts';
import { ROOT } from './processes.ts';

const RUNS = 7;
const IDLE_MS = 5_000;
const IDLE_RUNS = 3;

type Environment = Readonly<Record<string, string>>;

const READY_MS = 500;
const IDLE_MB = 100;

/** Starts the app as an operator does, again and again: when it was ready, and what it then holds in memory. */
export async function measureStartUp(environment: Environment): Promise<readonly Figure[]> {
  const ways = { 'npm start': ['npm', 'start'], 'node src/start.mjs': ['node', 'src/start.mjs'] } as const;
  const readyMs = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  const residentMb: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    for (const [name, [program, argument]] of Object.entries(ways)) {
      const app = await startReady(program, argument, environment);
      readyMs.get(name)?.push(app.readyMs);
      if (program === 'node' && run < IDLE_RUNS) {
        await sleep(IDLE_MS);
        residentMb.push((await findResidentMb(app.pid)) ?? Number.NaN);
      }
      await app.stop();
    }
  }
  const starts = [...readyMs].map(([name, times]) =>
    atMost(`${name}, until /readyz says so (median)`, median(times), READY_MS, 'ms'),
  );
  return [...starts, atMost(`memory after ${IDLE_MS / 1000} s idle`, median(residentMb), IDLE_MB, 'MB')];
}

async function startReady(program: string, argument: string, environment: Environment) {
  const startedAt = performance.now();
  const child = spawn(program, [argument], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_loglevel: 'error', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own: npm starts a shell that starts node, and all of them are to end.
    detached: true,
  });
  const pid = child.pid ?? 0;
  const url = `http://127.0.0.1:${await waitForPort(child)}/readyz`;
  while (!(await isReady(url))) await sleep(5);
  const readyMs = performance.now() - startedAt;
  const stop = async (): Promise<void> => {
    const ended = once(child, 'close');
    process.kill(-pid, 'SIGTERM');
    await ended;
  };
  return { pid, readyMs, stop };
}

async function isReady(url: string): Promise<boolean> {
  const { statusCode, body } = await request(url, { reset: true });
  await body.dump();
  return statusCode === 200;
}

/** The resident memory of the last process in the line that began with this one; undefined where there is no /proc. */
async function findResidentMb(pid: number): Promise<number | undefined> {
  try {
    const child = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0];
    if (child) return await findResidentMb(Number(child));
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return undefined;
  }
}
