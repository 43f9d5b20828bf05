import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The app as a process of its own, with the code that `npm start` runs: to be killed at the worst moment. */
export interface AppProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** All that it wrote so far. */
  output(): string;
  hasEnded(): boolean;
  /** Resolves when the process has ended and closed its output. */
  readonly ended: Promise<void>;
  /** `kill -9`: nothing is cleaned up. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts the bundled app (`build.ts`), or what starts it, and waits until it listens. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
  [program, ...args]: readonly [string, ...string[]] = [process.execPath, 'dist/bundled/main.js'],
): Promise<AppProcess> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  }
  const output = () => written.join('');
  const ended = once(child, 'close').then(() => undefined);
  const port = await waitForPort(child, output);
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL');
    },
  };
}

async function waitForPort(child: ChildProcess, output: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const port = /"port":(\d+)[^\n]*"msg":"(?:ready|started, but not ready)"/.exec(output())?.[1];
      if (port) resolve(Number(port));
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => reject(new Error(`the app ended with ${code}:\n${output()}`)));
  });
}
