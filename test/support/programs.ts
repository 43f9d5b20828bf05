import { execFile } from 'node:child_process';

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  /** What it wrote to standard error. */
  readonly words: string;
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
      (error, output, words) => resolve({ code: Number(error?.code ?? 0), output, words }),
    );
    child.stdin?.end(input);
  });
}
