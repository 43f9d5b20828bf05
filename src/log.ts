import { pino } from 'pino';
import { describeDefect } from './core/errors.ts';

/** What may be logged: a sentence and named fields. Never a body, a payload or an error's text of unknown origin. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  debug(words: string, fields?: Fields): void;
  info(words: string, fields?: Fields): void;
  warn(words: string, fields?: Fields): void;
  error(words: string, fields?: Fields & { readonly stack?: string }): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs JSON lines to standard output, synchronously: the last line before a crash is the one that is needed. */
export function createLog(level: LogLevel): Log {
  const target = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const write =
    (at: 'debug' | 'info' | 'warn' | 'error') =>
    (words: string, fields: Fields = {}) =>
      target[at](fields, words);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** For tests that don't look at the log. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

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
