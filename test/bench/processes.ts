import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

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
  const port = await portOf(child);
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

/** Waits for the line that says that it listens. @throws Error when the process ends before */
export async function portOf(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('the process was started without its output');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const told = JSON.parse(line) as { msg?: string; port?: number };
    if (told.msg !== 'ready' || told.port === undefined) continue;
    child.stdout.resume();
    return told.port;
  }
  throw new Error('a process ended before it listened');
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
