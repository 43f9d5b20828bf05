import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { waitForPort } from '../support/killable-team.ts';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A process of its own that listens on a port and tells how much CPU time it has used. */
export interface Contender extends AsyncDisposable {
  readonly url: string;
  /** User and system time of all its threads since it began, microseconds. */
  cpuUs(): Promise<number>;
}

/** Loaded before the program: tells the CPU time when it is asked, and ends with the bench, however the bench ends. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  process.on("message", () => process.send(process.cpuUsage()));
  process.on("disconnect", () => process.exit());
  process.channel.unref();
`)}`;

/** Starts a program that prints a JSON line `{ "msg": "ready", "port": … }`, in an environment of nothing else. */
export async function start(path: string, environment: Readonly<Record<string, string>>): Promise<Contender> {
  const child = fork(path, {
    execArgv: ['--import', PROBE],
    env: { PATH: process.env.PATH, ...environment },
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await waitForPort(child);
  return {
    url: `http://127.0.0.1:${port}`,
    cpuUs: async () => {
      const answer = once(child, 'message');
      child.send('tell');
      const [{ user, system }] = (await answer) as [NodeJS.CpuUsage];
      return user + system;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Waits until the process has nothing left to do; returns the CPU time it had used by then, microseconds. */
export async function settle(contender: Contender): Promise<number> {
  let used = await contender.cpuUs();
  for (let looks = 0; looks < 200; looks++) {
    await sleep(25);
    const now = await contender.cpuUs();
    if (now - used < 1500) return now;
    used = now;
  }
  throw new Error('a process does not come to rest');
}
