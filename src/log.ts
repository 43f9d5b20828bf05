import { pino } from 'pino';
import { describeDefect } from './core/errors.ts';

/** Named fields of a log line. Never a body, a payload, a secret or an error's text of unknown origin. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes log lines: a fixed sentence and fields. */
export interface Log {
  debug(words: string, fields?: Fields): void;
  info(words: string, fields?: Fields): void;
  warn(words: string, fields?: Fields): void;
  error(words: string, fields?: Fields & { readonly stack?: string }): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Creates a log of JSON lines on standard output. Synchronous, since the last line before a crash matters most. */
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
 * Logs what no code has caught, without its message, which may contain secrets and which Node.js would print. The process
 * survives an unhandled rejection, since nothing depends on it. After any other exception it exits with 1, for its supervisor to
 * restart it.
 */
export function logUncaught(events: NodeJS.Process, log: Log, exit: (code: number) => void): void {
  events.on('unhandledRejection', (reason) =>
    log.error('a failure that nothing waited for was ignored', describeDefect(reason)),
  );
  events.on('uncaughtException', (error) => {
    log.error('the process ends after a failure that nothing caught', describeDefect(error));
    exit(1);
  });
}
