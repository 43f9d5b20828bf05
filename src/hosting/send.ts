import { type Dispatcher, Pool } from 'undici';
import type { Secret } from '../core/secret.ts';
import type { System } from '../system.ts';
import type { Endpoint, WireAnswer } from './endpoints.ts';
import { sealText } from './read-catalog.ts';
import { makeError } from './refusals.ts';
import { isPagingHeader, type PagingHeaders } from './server-list.ts';
import { sleepUnless } from './slots.ts';

export interface Transport {
  /**
   * Sends one request, once, unless `isTooLate` returns true right before its first byte would leave. Money effect: that of the
   * endpoint.
   * @throws HostingError `not_sent` with proof, `no_answer`, `unreadable_answer` (larger than 8 MB), and `unauthorized` without
   * sending if the key fits into no header
   */
  send(endpoint: Endpoint<unknown>, key: Secret<string>, isTooLate?: () => boolean): Promise<WireAnswer>;
  /** Lets requests in flight end and accepts no new ones. */
  close(): Promise<void>;
}

interface TransportOptions {
  readonly baseUrl: string;
  /** The timeout in milliseconds of the whole exchange: connection, request, headers and body. */
  readonly timeoutMs: number;
  readonly system: System;
  /** Used instead of its own connection pool. */
  readonly dispatcher?: Dispatcher;
}

const MOST_CONNECTIONS = 32;
/** Long enough for one turn of the event loop. */
const GRACE_MS = 20;
const MOST_BYTES = 8 * 1024 * 1024;

/** Creates the transport for one base address: keep-alive connections, one timeout, no redirects, no retries. */
export function createTransport({ baseUrl, timeoutMs, system, dispatcher }: TransportOptions): Transport {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  const pool = dispatcher ?? openPool(origin, timeoutMs);
  return {
    async send(endpoint, key, isTooLate = () => false) {
      const exchange = new Exchange(endpoint, isTooLate);
      const ended = new AbortController();
      void expireLate(exchange, ended.signal, timeoutMs, system);
      try {
        pool.dispatch(
          {
            origin,
            path: `${basePath}${endpoint.path}`,
            method: endpoint.method,
            headers: writeHeaders(endpoint, key),
            body: endpoint.body ? JSON.stringify(endpoint.body) : null,
          },
          exchange,
        );
        return await exchange.answer;
      } finally {
        ended.abort();
      }
    },
    close: () => pool.close(),
  };
}

/**
 * Ends an exchange at its timeout, but only after reading what has already arrived: a process that was suspended for
 * longer than the timeout may find the answer, and perhaps a root password, waiting in its socket.
 */
async function expireLate(
  exchange: Exchange,
  ended: AbortSignal,
  timeoutMs: number,
  system: System,
): Promise<void> {
  if (!(await sleepUnless(ended, timeoutMs, system))) return;
  // One that hasn't begun has no answer to wait for, and must not begin now.
  if (!exchange.hasBegun || (await sleepUnless(ended, GRACE_MS, system))) exchange.expire();
}

function openPool(origin: string, timeoutMs: number): Pool {
  return new Pool(origin, {
    connections: MOST_CONNECTIONS,
    pipelining: 1,
    // A third of the time for connecting, so that a dead network is reported as `not_sent` rather than as unconfirmed.
    connect: { timeout: Math.min(10_000, timeoutMs / 3) },
    // The one timeout above covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function writeHeaders(endpoint: Endpoint<unknown>, key: Secret<string>): Record<string, string> {
  const token = key.reveal();
  // A key that doesn't fit into a header can't be valid, and undici would throw an error that isn't a HostingError.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw makeError(endpoint, 'unauthorized', { cause: 'the key has characters that no header can hold' });
  }
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'user-agent': 'vps-slack',
    ...(endpoint.body && { 'content-type': 'application/json' }),
  };
}

/** One request and its answer, as undici reports them. `answer` rejects with a HostingError. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WireAnswer>;
  readonly #endpoint: Endpoint<unknown>;
  readonly #isTooLate: () => boolean;
  readonly #chunks: Buffer[] = [];
  /** Decoded as it arrives, since the list of thousands of servers takes too long to decode at once. */
  readonly #text: string[] = [];
  readonly #decoder = new TextDecoder();
  #settle: { resolve: (answer: WireAnswer) => void; reject: (error: Error) => void } | undefined;
  #connection: Dispatcher.DispatchController | undefined;
  #bytes = 0;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #paging: PagingHeaders = {};

  constructor(endpoint: Endpoint<unknown>, isTooLate: () => boolean) {
    this.#endpoint = endpoint;
    this.#isTooLate = isTooLate;
    this.answer = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  get hasBegun(): boolean {
    return this.#connection !== undefined;
  }

  /** Called by undici right before the first byte is written; until then, nothing has been sent. */
  onRequestStart(connection: Dispatcher.DispatchController): void {
    // The process froze, or waited for a connection, and another one may have taken over.
    if (this.#connection === undefined && this.#isTooLate()) this.#fail('not_sent', 'late');
    // The exchange has ended already, or this is undici's own retry after a lost connection: neither may be sent.
    if (this.#settle === undefined || this.#connection !== undefined) {
      connection.abort(new Error('not sent again'));
      return;
    }
    this.#connection = connection;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = [headers['retry-after']].flat()[0];
    const paging = Object.entries(headers).filter(([name]) => isPagingHeader(name));
    this.#paging = Object.fromEntries(paging.map(([name, value]) => [name, [value].flat().join(', ')]));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_BYTES) this.#fail('unreadable_answer', 'answer larger than 8 MB', 'too_large');
    else this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#text.push(this.#decoder.decode(chunk, { stream: true }));
  }

  onResponseEnd(): void {
    const retryAfter = this.#retryAfter;
    this.#settle?.resolve({
      status: this.#status ?? 0,
      ...this.#readText(),
      ...(retryAfter && { retryAfter }),
      paging: this.#paging,
    });
    this.#settle = undefined;
  }

  /**
   * `not_sent` needs two proofs, so that a change inside undici can't cause a second payment: the request was never about
   * to be written, and the failure is one of those that only happen before that.
   */
  onResponseError(_: Dispatcher.DispatchController | undefined, failure: Failure): void {
    const isProven = this.#connection === undefined && isBeforeSending(failure);
    const cause = typeof failure.code === 'string' ? failure.code : failure.name;
    this.#fail(isProven ? 'not_sent' : 'no_answer', cause);
  }

  /** Ends the exchange at its timeout. */
  expire(): void {
    this.#fail(this.#connection ? 'no_answer' : 'not_sent', 'timeout');
  }

  #fail(code: 'not_sent' | 'no_answer' | 'unreadable_answer', cause: string, problem?: 'too_large'): void {
    const status = this.#status;
    const details = { cause, ...(status !== undefined && { status }), ...(problem && { problem }) };
    this.#settle?.reject(makeError(this.#endpoint, code, details, this.#sealWhatCame()));
    this.#settle = undefined;
    this.#chunks.length = 0;
    this.#connection?.abort(new Error(cause));
  }

  /** Seals the part of an answer that arrived before it broke off: it may have the root password. */
  #sealWhatCame(): Secret<string> | undefined {
    const isSuccess = this.#status !== undefined && this.#status >= 200 && this.#status <= 299;
    if (!this.#endpoint.mayHoldSecret || !isSuccess) return undefined;
    const { text, raw } = this.#readText();
    return sealText(raw ?? text);
  }

  /** Reads the bytes as UTF-8, or as one character each if they are not UTF-8. */
  #readText(): { readonly text: string; readonly raw?: string } {
    const text = this.#text.join('') + this.#decoder.decode();
    if (!text.includes('\uFFFD')) return { text };
    const bytes = Buffer.concat(this.#chunks);
    return Buffer.from(text).equals(bytes) ? { text } : { text, raw: bytes.toString('latin1') };
  }
}

interface Failure extends Error {
  readonly code?: unknown;
  readonly syscall?: unknown;
  /** Of an AggregateError: one for every address that was tried. */
  readonly errors?: readonly Failure[];
}

const CONNECTING = new Set<unknown>(['getaddrinfo', 'connect']);

const BEFORE_SENDING = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  // The other side doesn't speak TLS, or its certificate is wrong.
  'EPROTO',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether a failure happened while resolving, connecting to or authenticating the other side, rather than later. */
function isBeforeSending(failure: Failure): boolean {
  if (failure.errors?.length) return failure.errors.every(isBeforeSending);
  const code = String(failure.code);
  if (CONNECTING.has(failure.syscall) || BEFORE_SENDING.has(code)) return true;
  return code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_');
}
