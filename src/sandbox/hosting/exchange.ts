import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostingClock } from './clock.ts';
import type { Journal, RequestChange } from './journal.ts';
import { findRoute, type Route } from './routes.ts';

const VERSION = '/v1';

/** One API request and the way it ends; the journal always knows the end before the caller does. */
export class Exchange {
  readonly request: IncomingMessage;
  /** The endpoint asked for; undefined for a path or method that the API does not have. */
  readonly route: Route | undefined;
  readonly #response: ServerResponse;
  readonly #journal: Journal;
  readonly #entryId: number;
  readonly #startedMs = performance.now();
  #hasEnded = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { journal, clock }: { journal: Journal; clock: HostingClock },
    path: string,
  ) {
    const method = request.method ?? '';
    this.request = request;
    this.route = path.startsWith(`${VERSION}/`) ? findRoute(method, path.slice(VERSION.length)) : undefined;
    this.#response = response;
    this.#journal = journal;
    const moment = { atMs: clock.now(), realAtMs: clock.realNow() };
    this.#entryId = journal.arrive({ ...moment, method, path, operation: this.route?.operation }).id;
    response.once('close', () => this.#noteLoss());
  }

  /** Notes what has become known before the end. */
  note(change: RequestChange): void {
    this.#journal.note(this.#entryId, change);
  }

  /** Answers with JSON. */
  json(
    status: number,
    value: unknown,
    change: RequestChange = {},
    headers: Readonly<Record<string, string>> = {},
  ): void {
    this.text(status, 'application/json; charset=utf-8', JSON.stringify(value), change, headers);
  }

  /** The whole address that was asked for, as the caller reached it. */
  get address(): URL {
    return new URL(this.request.url ?? '', `http://${this.request.headers.host ?? 'localhost'}`);
  }

  /** Answers with any text, or bytes that are none. */
  text(
    status: number,
    type: string,
    text: string | Uint8Array,
    change: RequestChange = {},
    headers: Readonly<Record<string, string>> = {},
  ): void {
    if (this.#hasEnded) return;
    this.#end({ ...change, ending: 'answered', status });
    const body = typeof text === 'string' ? Buffer.from(text) : text;
    this.#response.writeHead(status, {
      'content-type': type,
      'content-length': body.length,
      'cache-control': 'no-store',
      ...headers,
    });
    this.#response.end(body);
  }

  /** Cuts the connection without an answer. */
  cut(): void {
    this.#noteLoss();
    this.request.socket.destroy();
  }

  /** Leaves the caller waiting until it gives up or the service closes. */
  hang(): void {
    if (!this.#hasEnded) this.#end({ ending: 'hanging' });
  }

  /** The caller hung up while its answer was still being worked on or held back. */
  #noteLoss(): void {
    if (!this.#hasEnded) this.#end({ ending: 'cut' });
  }

  #end(change: RequestChange): void {
    this.#hasEnded = true;
    this.note({ ...change, durationMs: performance.now() - this.#startedMs });
  }
}
