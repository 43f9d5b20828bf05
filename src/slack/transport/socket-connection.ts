import { type App, SocketModeReceiver } from '@slack/bolt';
import { withTimeout } from '../../app/with-timeout.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import { quietLogger } from './quiet-logger.ts';
import { namedId } from './request-id.ts';
import { readSocketMessage, type SocketMessage } from './socket-messages.ts';
import { isRoutine } from './socket-words.ts';
import { createUnacknowledged, type Unacknowledged } from './unacknowledged.ts';

/** One WebSocket to Slack. It never reconnects; it is replaced. */
export interface SocketConnection {
  /** False as soon as nothing can come over it, or be answered. */
  isUp(): boolean;
  /** Resolves with the reason when it has to be replaced: it has ended, or Slack has announced its end. */
  readonly leaving: Promise<string>;
  /** Resolves when it has ended, from either side. */
  readonly ended: Promise<void>;
  /** Resolves when all that came has been acknowledged, or Slack does not wait for it any more. */
  settled(): Promise<void>;
  /** Takes nothing more; resolves when what it took has been acknowledged, or can't be any more, and it is closed. */
  close(): Promise<void>;
}

/** The connection was sent away, or ended before Slack had confirmed it; `reason` is Slack's, or one of ours. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export interface SocketParts {
  readonly appToken: Secret<string>;
  readonly slackApiUrl: string;
  readonly log: Log;
  readonly system: System;
  readonly limits: ConnectionLimits;
}

/** Times in milliseconds. */
export interface ConnectionLimits {
  /** How long Slack may take to greet a new connection. */
  readonly helloTimeoutMs: number;
  /** How long Slack may leave a ping unanswered. */
  readonly pongTimeoutMs: number;
}

const API_TIMEOUT_MS = 5000;
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Opens a connection; resolves when Slack has confirmed it.
 * @throws SocketRefused, and what Slack's library throws when it gets no address
 */
export async function openConnection(
  app: App,
  parts: SocketParts,
  signal: AbortSignal,
): Promise<SocketConnection> {
  const receiver = createReceiver(parts);
  receiver.init(app);
  const connection = createConnection(receiver.client, parts);
  const opened = receiver.start().then(
    () => undefined,
    (error: unknown) => {
      throw error ?? new SocketRefused('closed');
    },
  );
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const late = parts.system.sleep(parts.limits.helloTimeoutMs, either).then(
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
 * Bolt's receiver, without an HTTP server of its own. It neither retries nor reconnects: its library does both in ways that
 * can end the process, or leave it without a connection for good.
 */
function createReceiver({ appToken, slackApiUrl, log, limits }: SocketParts): SocketModeReceiver {
  return new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger: quietLogger(log),
    autoReconnectEnabled: false,
    clientPingTimeout: limits.pongTimeoutMs,
    installerOptions: {
      // Its own object: the library writes into it.
      clientOptions: {
        slackApiUrl,
        timeout: API_TIMEOUT_MS,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
      },
    },
    customPropertiesExtractor: ({ envelope_id }: { readonly envelope_id?: unknown }) => ({
      requestId: typeof envelope_id === 'string' ? namedId('envelope', envelope_id) : undefined,
    }),
    processEventErrorHandler: async ({ error }) => {
      log.warn('a request could not be acknowledged', describeDefect(error));
      return false;
    },
  });
}

type Client = SocketModeReceiver['client'];

interface Life {
  readonly unacknowledged: Unacknowledged;
  isGreeted: boolean;
  isTaking: boolean;
  leave(reason: string): void;
}

function createConnection(client: Client, { log, system }: SocketParts): SocketConnection {
  const unacknowledged = createUnacknowledged(system);
  const leaving = withResolvers<string>();
  const ended = withResolvers<void>();
  const life: Life = { unacknowledged, isGreeted: false, isTaking: true, leave: leaving.resolve };
  interceptMessages(client, log, (message) => takeMessage(message, life, log));
  client.on('outgoing_message', ({ envelope_id }: { envelope_id: string }) =>
    unacknowledged.remove(envelope_id),
  );
  let isClosed = false;
  // It can't be stopped while it asks for its address, so it is stopped as soon as it connects.
  client.on('connecting', () => isClosed && queueMicrotask(() => void client.disconnect()));
  client.on('disconnected', () => {
    leaving.resolve('closed');
    ended.resolve();
  });
  return {
    leaving: leaving.promise,
    ended: ended.promise,
    settled: unacknowledged.settled,
    isUp: () => life.isGreeted && client.websocket?.isActive() === true,
    close: async () => {
      life.isTaking = false;
      if (client.websocket?.isActive()) await unacknowledged.settled();
      isClosed = true;
      leaving.resolve('closed');
      // A peer that is gone does not answer that we close.
      await withTimeout(client.disconnect(), system, CLOSE_TIMEOUT_MS);
      ended.resolve();
    },
  };
}

/** Whether Slack's library gets the message, too. */
function takeMessage(message: SocketMessage, life: Life, log: Log): boolean {
  if (message.kind === 'hello') {
    life.isGreeted = true;
    log.info('connected to Slack over a WebSocket', { connections: message.connections });
    return true;
  }
  if (message.kind === 'disconnect') {
    // The library would close at once, and what was taken could not be acknowledged any more.
    if (!isRoutine(message.reason)) life.isGreeted = false;
    life.leave(message.reason);
    return false;
  }
  // What is not acknowledged is Slack's to send again, to another connection.
  if (life.isTaking) life.unacknowledged.add(message.id);
  return life.isTaking;
}

/** Reads what Slack sends before Slack's library does, which trips over messages that it does not know. */
function interceptMessages(client: Client, log: Log, take: (message: SocketMessage) => boolean): void {
  const handlers = client.listeners('ws_message');
  if (handlers.length === 0) throw new Error('Slack’s library does not read what comes over a WebSocket');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const message = readSocketMessage(data);
    if (!message) log.debug('Slack sent something over a WebSocket that is not known');
    if (!message || !take(message)) return;
    for (const handle of handlers) {
      Promise.resolve(handle(data, isBinary)).catch((error: unknown) =>
        log.error('a message of Slack was not understood', describeDefect(error)),
      );
    }
  });
}

function withResolvers<Value>() {
  let resolve = (_value: Value): void => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: Value) => resolve(value) };
}
