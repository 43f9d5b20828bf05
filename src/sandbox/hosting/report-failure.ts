import { inspect } from 'node:util';

/** Reports what went wrong in the sandbox itself to standard error, with the stack trace if there is one. */
export function reportFailure(what: string, error: unknown): void {
  process.stderr.write(`${what}: ${inspect(error)}\n`);
}
