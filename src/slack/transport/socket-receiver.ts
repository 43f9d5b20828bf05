import type { App } from '@slack/bolt';
import { describeDefect } from '../../domain/errors.ts';
import type { System } from '../../system.ts';
import type { Transport } from './bolt.ts';
import { readRefusal } from './refusals.ts';
import {
  type ConnectionLimits,
  openConnection,
  type SocketConnection,
  type SocketParts,
  SocketRefused,
} from './socket-connection.ts';
import { describeSocketFault, isRoutine } from './socket-words.ts';

/** Times in milliseconds. */
export interface SocketTimes extends ConnectionLimits {
  /** A connection that lasts less counts as a failure: the next one is opened later. */
  readonly stableMs: number;
  /** How often the app looks whether its connection is up. */
  readonly lookMs: number;
}

const TIMES: SocketTimes = { helloTimeoutMs: 10_000, pongTimeoutMs: 10_000, stableMs: 10_000, lookMs: 1000 };
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Options extends Omit<SocketParts, 'limits'> {
  /** The app stops. */
  readonly signal: AbortSignal;
  readonly times?: Partial<SocketTimes>;
}

interface State {
  readonly connections: Set<SocketConnection>;
  /** Why there is no connection, when there is none. */
  reason: string;
  /** The last one that was logged since the app was connected. */
  reported: string | undefined;
}

/**
 * Slack's requests over WebSockets that the app opens: Socket Mode. One is enough; the next one is opened before Slack
 * closes it, so that nothing is missed in between.
 */
export function createSocketReceiver(options: Options): Transport {
  const state: State = { connections: new Set(), reason: 'not_asked_yet', reported: undefined };
  let app: App | undefined;
  return {
    receiver: {
      init: (given) => {
        app = given;
      },
      start: async () => undefined,
      stop: async () => undefined,
    },
    start: () =>
      new Promise((resolve, reject) => {
        if (!app) return reject(new Error('Bolt was not started'));
        const supervision = { ...options, times: { ...TIMES, ...options.times } };
        keepConnected(app, state, supervision, resolve).catch((error: unknown) => {
          options.log.error('the connection to Slack is not supervised any more', describeDefect(error));
          reject(error);
        });
        return undefined;
      }),
    faults: () =>
      [...state.connections].some((connection) => connection.isUp())
        ? []
        : [describeSocketFault(state.reason)],
    close: async () => {
      await Promise.all([...state.connections].map((connection) => connection.close()));
    },
  };
}

type Supervision = Options & { readonly times: SocketTimes };

/** Opens a connection, and the next one when it leaves, until the app stops. */
async function keepConnected(
  app: App,
  state: State,
  options: Supervision,
  onFirstAttempt: () => void,
): Promise<void> {
  const { system, signal, times } = options;
  const parts = { ...options, limits: times };
  let failures = 0;
  let previous: SocketConnection | undefined;
  while (!signal.aborted) {
    const attempt = await openConnection(app, parts, signal).catch(readFailure);
    onFirstAttempt();
    if ('code' in attempt) {
      failures += 1;
      report(attempt.code, state, options);
      await pause(Math.max(attempt.retryAfterMs ?? 0, backOffMs(failures, system)), options);
      continue;
    }
    const openedAt = system.elapsed();
    add(attempt, state);
    if (signal.aborted) void attempt.close();
    if (previous) void retire(previous);
    const reason = await untilLeaving(attempt, options);
    if (signal.aborted) return;
    report(reason, state, options);
    previous = isRoutine(reason) ? attempt : undefined;
    if (!previous) void attempt.close();
    failures = system.elapsed() - openedAt < times.stableMs ? failures + 1 : 0;
    await pause(backOffMs(failures, system), options);
  }
}

function add(connection: SocketConnection, state: State): void {
  state.connections.add(connection);
  state.reason = 'closed';
  state.reported = undefined;
  void connection.ended.then(() => state.connections.delete(connection));
}

/** Closes a connection whose successor is there, at a moment when Slack waits for nothing over it. */
async function retire(connection: SocketConnection): Promise<void> {
  await connection.settled();
  await connection.close();
}

/** Notices, too, when a connection neither ends nor answers. */
async function untilLeaving(connection: SocketConnection, options: Supervision): Promise<string> {
  const { system, signal, times } = options;
  let reason: string | undefined;
  void connection.leaving.then((given) => {
    reason = given;
  });
  for (;;) {
    const look = system.sleep(times.lookMs, signal).catch(() => undefined);
    await Promise.race([connection.leaving, look]);
    if (reason !== undefined) return reason;
    if (signal.aborted) return 'closed';
    if (!connection.isUp()) return 'silent';
  }
}

interface Failure {
  readonly code: string;
  readonly retryAfterMs?: number | undefined;
}

function readFailure(error: unknown): Failure {
  return error instanceof SocketRefused ? { code: error.reason } : readRefusal(error);
}

/** The same reason is logged once: an outage can last for hours. */
function report(reason: string, state: State, { log }: Supervision): void {
  if (isRoutine(reason)) log.info('Slack is about to close a WebSocket', { reason });
  else if (state.reported !== reason) log.warn(describeSocketFault(reason), { reason });
  state.reason = isRoutine(reason) ? 'closed' : reason;
  state.reported = reason;
}

/** Many apps that lost their connections at once do not come back at once. */
function backOffMs(failures: number, system: System): number {
  if (failures === 0) return 0;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return pauseMs * (0.5 + system.random() / 2);
}

async function pause(ms: number, { system, signal }: Supervision): Promise<void> {
  if (ms > 0) await system.sleep(ms, signal).catch(() => undefined);
}
