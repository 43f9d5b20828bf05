import { setTimeout as sleep } from 'node:timers/promises';
import { type AppProcess, startProcess } from '../support/process.ts';

/** How a process ended that was not stopped. */
interface Surprise {
  readonly pid: number;
  readonly output: string;
}

/** Several processes of the app, each of them started again when it has ended, as a process manager does. */
export interface Processes extends AsyncDisposable {
  /** Where those listen that are running. */
  urls(): readonly string[];
  running(): readonly AppProcess[];
  /** `kill -9`. */
  kill(app: AppProcess): Promise<void>;
  /** SIGTERM. */
  stop(app: AppProcess): Promise<void>;
  /** Stands still for so long: no timer, no answer. */
  freeze(app: AppProcess, ms: number): Promise<void>;
  readonly surprises: readonly Surprise[];
  /** When processes were killed, in epoch milliseconds. */
  readonly killedAt: readonly number[];
  /** All that any of them wrote. */
  output(): string;
  /** Ends the watch, stops all in order and returns their exit codes. */
  stopAll(): Promise<readonly (number | null)[]>;
}

const RESTART_MS = 200;
/** A start that failed, such as one while the database is away, is tried again as often. */
const RETRY_MS = 500;

/** Starts as many processes as there are environments; resolves when all of them listen. */
export async function startProcesses(
  environments: readonly Readonly<Record<string, string>>[],
): Promise<Processes> {
  const running = new Map<number, AppProcess>();
  const ended: AppProcess[] = [];
  const expected = new Set<number>();
  const surprises: Surprise[] = [];
  const killedAt: number[] = [];
  let isOver = false;

  const end = (app: AppProcess) => {
    expected.add(app.pid);
    return app.kill();
  };
  const watch = async (slot: number, environment: Readonly<Record<string, string>>, began: () => void) => {
    while (!isOver) {
      const app = await startProcess(environment).catch(() => undefined);
      if (!app) {
        await sleep(RETRY_MS);
        continue;
      }
      running.set(slot, app);
      began();
      if (isOver) await end(app);
      await app.ended;
      running.delete(slot);
      ended.push(app);
      if (!expected.has(app.pid)) surprises.push({ pid: app.pid, output: app.output().slice(-2000) });
      if (!isOver) await sleep(RESTART_MS);
    }
  };
  const watches: Promise<void>[] = [];
  const begin = (environment: Readonly<Record<string, string>>, slot: number) =>
    new Promise<void>((began) => watches.push(watch(slot, environment, began)));
  await Promise.all(environments.map(begin));

  const all = () => [...ended, ...running.values()];
  const stopAll = async () => {
    isOver = true;
    for (const { pid } of running.values()) expected.add(pid);
    const codes = await Promise.all([...running.values()].map((app) => app.stop()));
    await Promise.all(watches);
    return codes;
  };
  return {
    urls: () => [...running.values()].filter((app) => !app.hasEnded()).map(({ url }) => url),
    running: () => [...running.values()].filter((app) => !app.hasEnded()),
    kill: async (app) => {
      expected.add(app.pid);
      killedAt.push(Date.now());
      await app.kill();
    },
    stop: async (app) => {
      expected.add(app.pid);
      await app.stop();
    },
    freeze: async (app, ms) => {
      process.kill(app.pid, 'SIGSTOP');
      await sleep(ms);
      if (!app.hasEnded()) process.kill(app.pid, 'SIGCONT');
    },
    surprises,
    killedAt,
    output: () =>
      all()
        .map((app) => app.output())
        .join('\n'),
    stopAll,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      for (const app of running.values()) await end(app);
      await Promise.all(watches);
    },
  };
}
