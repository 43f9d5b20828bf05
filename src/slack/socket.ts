import { type App, SocketModeReceiver } from '@slack/bolt';
import { z } from 'zod';
import { describeDefect } from '../core/errors.ts';
import { withResolvers, withTimeout } from '../core/promises.ts';
import type { Secret } from '../core/secret.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { quietLogger, type Transport } from './bolt.ts';
import { readJson } from './kit/text.ts';
import { namedId } from './payloads.ts';
import { isTokenRefused, readRefusal } from './refusals.ts';

export interface SocketTimes {
  /** How long Slack may take to greet a new connection. */
  readonly helloTimeoutMs: number;
  /** How long Slack may leave a ping unanswered. */
  readonly pongTimeoutMs: number;
  /** A connection that ends earlier counts as a failure, and makes the app pause before the next one. */
  readonly stableMs: number;
  readonly lookMs: number;
}

const TIMES: SocketTimes = { helloTimeoutMs: 10_000, pongTimeoutMs: 10_000, stableMs: 10_000, lookMs: 1000 };
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Options {
  readonly appToken: Secret<string>;
  readonly slackApiUrl: string;
  readonly log: Log;
  readonly system: System;
  /** Called with the milliseconds that each acknowledgment took, for metrics. */
  readonly onAck?: (ms: number) => void;
  readonly signal: AbortSignal;
  readonly times?: Partial<SocketTimes>;
}

interface State {
  readonly connections: Set<SocketConnection>;
  /** Why there is no connection, if there is none. */
  reason: string;
  /** The last reason that was logged since the app was connected. */
  reported: string | undefined;
}

/**
 * Creates the transport for Slack's requests in Socket Mode: over a WebSocket that the app opens. It opens the next one before
 * Slack closes this one, so that it misses nothing in between.
 */
export function createSocketReceiver(options: Options): Transport {
  const state: State = { connections: new Set(), reason: 'not_asked_yet', reported: undefined };
  let app: App | undefined;
  return {
    connect: (given) => {
      app = given;
    },
    start: () =>
      new Promise((resolve, reject) => {
        if (!app) return reject(new Error('Bolt was not started'));
        const supervision = { ...options, times: { ...TIMES, ...options.times } };
        keepConnected(app, state, supervision, resolve).catch((error: unknown) => {
          options.log.error('the connection to Slack is no longer supervised', describeDefect(error));
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

/** Opens a connection, and the next one when it has to be replaced, until the app stops. */
async function keepConnected(
  app: App,
  state: State,
  options: Supervision,
  onFirstAttempt: () => void,
): Promise<void> {
  const { system, signal, times } = options;
  let failures = 0;
  let previous: SocketConnection | undefined;
  while (!signal.aborted) {
    const attempt = await openConnection(app, options).catch(readFailure);
    onFirstAttempt();
    if ('code' in attempt) {
      failures += 1;
      report(attempt.code, state, options);
      await pause(Math.max(attempt.retryAfterMs ?? 0, backOffMs(failures, system)), options);
      continue;
    }
    const openedAt = system.elapsed();
    state.connections.add(attempt);
    state.reason = 'closed';
    state.reported = undefined;
    void attempt.ended.then(() => state.connections.delete(attempt));
    if (signal.aborted) void attempt.close();
    // At a moment when Slack isn't waiting for anything over it.
    if (previous) void previous.settled().then(previous.close);
    const reason = await untilLeaving(attempt, options);
    if (signal.aborted) return;
    report(reason, state, options);
    previous = isRoutine(reason) ? attempt : undefined;
    if (!previous) void attempt.close();
    failures = system.elapsed() - openedAt < times.stableMs ? failures + 1 : 0;
    await pause(backOffMs(failures, system), options);
  }
}

/** Waits until a connection has to be replaced, also because it doesn't answer; returns the reason. */
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

function readFailure(error: unknown): { readonly code: string; readonly retryAfterMs?: number } {
  return error instanceof SocketRefused ? { code: error.message } : readRefusal(error);
}

/** Logs a reason, but not repeatedly, since an outage can last for hours. */
function report(reason: string, state: State, { log }: Supervision): void {
  if (isRoutine(reason)) log.info('Slack is about to close a WebSocket', { reason });
  else if (state.reported !== reason) log.warn(describeSocketFault(reason), { reason });
  state.reason = isRoutine(reason) ? 'closed' : reason;
  state.reported = reason;
}

/** Returns the pause after so many failures: random, so that apps that lost their connections at once don't return at once. */
function backOffMs(failures: number, system: System): number {
  if (failures === 0) return 0;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return pauseMs * (0.5 + system.random() / 2);
}

async function pause(ms: number, { system, signal }: Supervision): Promise<void> {
  if (ms > 0) await system.sleep(ms, signal).catch(() => undefined);
}

/** Slack refused a connection, or it ended before Slack had confirmed it. The message is the reason: Slack's, or one of the app's. */
class SocketRefused extends Error {}

const API_TIMEOUT_MS = 5000;
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Opens a connection; resolves when Slack has confirmed it.
 * @throws SocketRefused, and what Slack's library throws if it gets no address
 */
async function openConnection(app: App, options: Supervision): Promise<SocketConnection> {
  const { system, signal, times } = options;
  const receiver = createReceiver(options);
  receiver.init(app);
  const connection = createConnection(receiver.client, options);
  const opened = receiver.start().then(
    () => undefined,
    (error: unknown) => {
      throw error ?? new SocketRefused('closed');
    },
  );
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const late = system.sleep(times.helloTimeoutMs, either).then(
    () => 'no_hello',
    () => 'closed',
  );
  try {
    const reason = await Promise.race([connection.leaving, opened, late]);
    if (reason === undefined) return connection;
    throw new SocketRefused(reason);
  } catch (error) {
    void connection.close();
    throw error;
  } finally {
    stop.abort();
  }
}

/**
 * Creates Bolt's receiver, without retries and reconnects: Slack's library does both in ways that can end the process, or leave
 * it without a connection permanently.
 */
function createReceiver({ appToken, slackApiUrl, log, times }: Supervision): SocketModeReceiver {
  return new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger: quietLogger(log),
    autoReconnectEnabled: false,
    clientPingTimeout: times.pongTimeoutMs,
    installerOptions: {
      // A new object, since the library writes into it.
      clientOptions: {
        slackApiUrl,
        timeout: API_TIMEOUT_MS,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
      },
    },
    customPropertiesExtractor: ({ envelope_id }: { readonly envelope_id: string }) => ({
      requestId: namedId('envelope', envelope_id),
    }),
    processEventErrorHandler: async ({ error }) => {
      log.warn('a request could not be acknowledged', describeDefect(error));
      return false;
    },
  });
}

const ACK_MS = 3000;

/**
 * Creates an empty set of the envelopes that Slack waits for, by their IDs. `onAck` is called with the age of each that is
 * acknowledged, or given up by Slack.
 */
export function createUnacknowledged(system: System, onAck: (ms: number) => void = () => undefined) {
  const since = new Map<string, number>();
  const waiting = new Set<() => void>();
  const end = (id: string, at: number) => {
    since.delete(id);
    onAck(system.elapsed() - at);
  };
  const forgetOld = () => {
    for (const [id, at] of since) if (system.elapsed() - at > ACK_MS) end(id, at);
  };
  return {
    add: (id: string): void => {
      forgetOld();
      since.set(id, system.elapsed());
    },
    remove: (id: string): void => {
      const at = since.get(id);
      if (at !== undefined) end(id, at);
      if (since.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    /** Resolves when all have been acknowledged, or Slack has stopped waiting for them. */
    settled: async (): Promise<void> => {
      forgetOld();
      if (since.size === 0) return;
      const empty = withResolvers();
      waiting.add(empty.resolve);
      await withTimeout(empty.promise, system, ACK_MS);
    },
  };
}

type Client = SocketModeReceiver['client'];

interface Life {
  readonly unacknowledged: ReturnType<typeof createUnacknowledged>;
  isGreeted: boolean;
  isTaking: boolean;
  leave(reason: string): void;
}

type SocketConnection = ReturnType<typeof createConnection>;

/** Creates one WebSocket to Slack. It never reconnects, but is replaced. */
function createConnection(client: Client, { log, system, onAck }: Options) {
  const unacknowledged = createUnacknowledged(system, onAck);
  const leaving = withResolvers<string>();
  const ended = withResolvers();
  const life: Life = { unacknowledged, isGreeted: false, isTaking: true, leave: leaving.resolve };
  interceptMessages(client, log, life);
  client.on('outgoing_message', ({ envelope_id }: { envelope_id: string }) =>
    unacknowledged.remove(envelope_id),
  );
  let isClosed = false;
  // The client can't be stopped while it asks for its address, so it is stopped as soon as it connects.
  client.on('connecting', () => isClosed && queueMicrotask(() => void client.disconnect()));
  client.on('disconnected', () => {
    leaving.resolve('closed');
    ended.resolve();
  });
  return {
    /** Resolves with the reason when it has to be replaced: it has ended, or Slack has announced its end. */
    leaving: leaving.promise,
    /** Resolves when it has ended from either side. */
    ended: ended.promise,
    settled: unacknowledged.settled,
    /** Whether requests can arrive over it and be answered. */
    isUp: () => life.isGreeted && client.websocket?.isActive() === true,
    /** Stops taking requests, and closes once those that it took have been acknowledged, or can't be any more. */
    close: async () => {
      life.isTaking = false;
      if (client.websocket?.isActive()) await unacknowledged.settled();
      isClosed = true;
      leaving.resolve('closed');
      // A peer that is gone does not answer the close.
      await withTimeout(client.disconnect(), system, CLOSE_TIMEOUT_MS);
      ended.resolve();
    },
  };
}

/** Reads Slack's messages before Slack's library does, which throws for messages that it does not know. */
function interceptMessages(client: Client, log: Log, life: Life): void {
  const handlers = client.listeners('ws_message');
  if (handlers.length === 0) throw new Error('Slack’s library does not read what arrives over a WebSocket');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    if (!takeMessage(typeof data === 'string' ? readJson(data) : undefined, life, log)) return;
    for (const handle of handlers) {
      Promise.resolve(handle(data, isBinary)).catch((error: unknown) =>
        log.error('a message from Slack was not understood', describeDefect(error)),
      );
    }
  });
}

const hello = z.object({ type: z.literal('hello'), num_connections: z.number().optional().catch(undefined) });
const disconnect = z.object({
  type: z.literal('disconnect'),
  reason: z
    .string()
    .regex(/^[a-z_]{1,60}$/)
    .catch('unknown'),
});
const envelope = z.object({
  type: z.string(),
  envelope_id: z.string().min(1).max(200),
  // Slack's library doesn't check that it is there.
  payload: z.record(z.string(), z.unknown()),
});
const eventPayload = z.object({ event: z.object({ type: z.string() }) });

/** Takes a message; returns whether Slack's library gets it, too. An unknown one is ignored. */
function takeMessage(message: unknown, life: Life, log: Log): boolean {
  const greeting = hello.safeParse(message).data;
  if (greeting) {
    life.isGreeted = true;
    log.info('connected to Slack over a WebSocket', { connections: greeting.num_connections });
    return true;
  }
  const farewell = disconnect.safeParse(message).data;
  if (farewell) {
    // Slack closes this connection: soon if the reason is a routine, otherwise now. The library would close at once, and requests
    // that were taken could not be acknowledged any more.
    if (!isRoutine(farewell.reason)) life.isGreeted = false;
    life.leave(farewell.reason);
    return false;
  }
  const work = envelope.safeParse(message).data;
  if (!work || (work.type === 'events_api' && !eventPayload.safeParse(work.payload).success)) {
    log.debug('Slack sent an unknown kind of message over a WebSocket');
    return false;
  }
  // Slack sends an unacknowledged request again, over another connection.
  if (life.isTaking) life.unacknowledged.add(work.envelope_id);
  return life.isTaking;
}

/** Whether Slack keeps using a connection for some seconds after this reason (Slack, "Using Socket Mode"). */
function isRoutine(reason: string): boolean {
  return reason === 'warning' || reason === 'refresh_requested';
}

const TOKEN = 'Create one with the scope connections:write under Basic Information, App-Level Tokens';

/** Sentences for the operator, by Slack's error codes and reasons, and the app's own. */
const WORDS: Readonly<Record<string, string>> = {
  not_asked_yet: 'The app hasn’t opened its connection to Slack yet',
  closed: 'Slack closed the connection, and the app is opening another one',
  silent: 'The connection to Slack stopped answering, and the app is opening another one',
  no_hello: 'Slack opened a connection but didn’t confirm it; the app is trying again',
  link_disabled: 'Socket Mode is turned off: turn it on in the app’s settings, or remove SLACK_APP_TOKEN',
  too_many_websockets:
    'The app has more WebSockets than Slack allows (10): stop other copies of it, or wait until Slack drops dead connections',
  ratelimited: 'Slack limits how often the app opens a connection; it is trying again',
  missing_scope: `SLACK_APP_TOKEN lacks the scope connections:write. ${TOKEN}`,
  not_allowed_token_type: `SLACK_APP_TOKEN is not an app-level token. ${TOKEN}`,
};

/** Describes why the app gets nothing from Slack, in a sentence for the operator. */
function describeSocketFault(code: string): string {
  if (isTokenRefused(code)) return `Slack rejected SLACK_APP_TOKEN (${code}). ${TOKEN}`;
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words ?? `The app can’t open its connection to Slack (${code}); it is trying again`;
}
