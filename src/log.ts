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

/**
 * Creates a log on standard output: of JSON lines, or of sentences on a terminal. Synchronous, since the last line before a crash
 * matters most.
 */
export function createLog(level: LogLevel): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const describe = createSentences();
  const terminal = { write: (line: string) => process.stdout.write(describe(line)) };
  const target = process.stdout.isTTY ? pino(options, terminal) : pino(options);
  const write =
    (at: 'debug' | 'info' | 'warn' | 'error') =>
    (words: string, fields: Fields = {}) =>
      target[at](fields, words);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** The number of that level in a JSON line. */
const INFO = 30;
/** How long until a continuing problem is reported again. */
const AGAIN_MS = 10 * 60_000;

/**
 * Makes sentences of JSON lines. The same problem isn't reported again for ten minutes, unless something has gone well since:
 * during an outage, the app retries every few seconds. Stack traces are left to the JSON lines.
 */
export function createSentences(): (line: string) => string {
  const saidAt = new Map<string, number>();
  return (line) => {
    const parsed: { level: number; time: string; msg: string; stack?: string } & Fields = JSON.parse(line);
    const { level, time, msg, stack: _stack, ...fields } = parsed;
    const details = Object.entries(fields).map(([name, value]) => `${name} ${value}`);
    const words = details.length === 0 ? msg : `${msg} (${details.join(', ')})`;
    // A name from outside must not control the terminal.
    const plain = words.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
    if (level <= INFO) saidAt.clear();
    const at = Date.parse(time);
    if (at - (saidAt.get(plain) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return '';
    saidAt.set(plain, at);
    return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.!?]$/.test(plain) ? '' : '.'}\n`;
  };
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
    log.error('a rejected promise that nothing awaited was ignored', describeDefect(reason)),
  );
  events.on('uncaughtException', (error) => {
    log.error('the process exits after an uncaught exception', describeDefect(error));
    exit(1);
  });
}
