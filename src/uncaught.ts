import { describeDefect } from './domain/errors.ts';
import type { Log } from './log.ts';

/**
 * Logs what no code has caught, without its message, which may hold anything; Node.js would print it. The process survives a
 * rejected promise that nobody awaited, since nothing depends on that. After any other exception it ends, to be started again
 * by whatever supervises it.
 */
export function logUncaught(
  events: Pick<NodeJS.Process, 'on'>,
  log: Log,
  exit: (code: number) => void,
): void {
  events.on('unhandledRejection', (reason) =>
    log.error('a failure that nothing waited for was ignored', describeDefect(reason)),
  );
  events.on('uncaughtException', (error) => {
    log.error('the process ends after a failure that nothing caught', describeDefect(error));
    exit(1);
  });
}
