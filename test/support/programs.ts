import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  /** What it wrote to standard error. */
  readonly words: string;
  /** Both. */
  readonly all: string;
}

interface Running {
  /** What is typed into it. */
  readonly input?: string;
  /** Default: the command line. */
  readonly program?: 'cli/main.js' | 'main.js';
}

/** Runs a program of the built app (`build.ts`) to its end, with no other setting than these. */
export function runProgram(
  args: readonly string[],
  settings: Readonly<Record<string, string | undefined>> = {},
  { input = '', program = 'cli/main.js' }: Running = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [`dist/${program}`, ...args],
      { env: { PATH: process.env.PATH, ...settings }, maxBuffer: 1e8 },
      (error, output, words) =>
        resolve({ code: Number(error?.code ?? 0), output, words, all: output + words }),
    );
    child.stdin?.end(input);
  });
}

/** Reads what a program writes from now on; what it returns gives all of it so far. */
export function readOutput({ stdout, stderr }: ChildProcess): () => string {
  let written = '';
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  return () => written;
}

/** Linux has a program that gives another one a terminal. */
export const hasTerminal = spawnSync('script', ['--version']).status === 0;

/** Starts a program of the built app on a terminal of its own. */
export function startOnTerminal(words: string, environment: Readonly<Record<string, string>>) {
  // Without a shell in between, which Ctrl-C would end, too.
  const command = `exec ${process.execPath} dist/${words}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, ...environment },
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text.replaceAll('\r\n', '\n');
  });
  const ended = once(child, 'close').then(([code]) => Number(code));
  return {
    /** All that the terminal shows so far. */
    screen: () => shown,
    type: (text: string) => void child.stdin.write(text),
    /** Resolves with the exit code. */
    ended,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      child.kill();
      await ended;
    },
  };
}
