import { ConfigError } from '../config.ts';
import { isExpected } from '../domain/errors.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import { VaultError } from '../vault.ts';

/** Wrong arguments: what is wrong with them, and the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(problem: string, usage: string) {
    super(`${problem}\n\n${usage}`);
  }
}

/** An outcome that has an exit code of its own, and what is said about it. */
export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd';
  readonly exitCode: number;

  constructor(words: string, exitCode: number) {
    super(words);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a program. An error is printed as a sentence to standard error, with an exit code and no stack trace. `usageCode` is
 * the exit code for wrong arguments.
 */
export function runProgram(main: () => Promise<void>, usageCode = 1): void {
  // A reader such as `head` may close the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  main().catch((error: unknown) => {
    process.stderr.write(`${describeFault(error)}\n`);
    process.exitCode =
      error instanceof ProgramEnd ? error.exitCode : error instanceof UsageError ? usageCode : 1;
  });
}

export function print(words: string): void {
  process.stdout.write(`${words}\n`);
}

/** Reads arguments. @throws UsageError for an option that is not known, or has no value */
export function parseOrExplain<Arguments>(parse: () => Arguments, usage: string): Arguments {
  try {
    return parse();
  } catch (error) {
    const [problem] = error instanceof Error ? error.message.split(/\.(?:\s|$)/) : [];
    throw new UsageError(`${problem ?? 'The arguments can’t be read'}.`, usage);
  }
}

/** Reads a workspace ID. @throws UsageError */
export function parseWorkspaceId(text: string, usage: string): WorkspaceId {
  if (/^[TE][A-Z0-9]+$/.test(text)) return text;
  throw new UsageError(
    `"${text}" is not a workspace ID. Workspace IDs look like T012AB3CD; Slack's web app has yours in its address.`,
    usage,
  );
}

function describeFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof VaultError) return `ENCRYPTION_KEYS can't be read: ${error.message}.`;
  if (isExpected(error)) return `The command failed: ${error.code.replaceAll('_', ' ')}.`;
  return error instanceof Error ? error.message : 'The command failed.';
}
