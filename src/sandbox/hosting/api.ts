import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account, Accounts, RateLimit } from './accounts.ts';
import { type AnswerStyle, refusalOf, speak, writeList } from './answers.ts';
import { type PriceList, parseOrder } from './catalog.ts';
import type { HostingClock } from './clock.ts';
import { type Effect, effectOf, type FaultBook, type FaultRule, supplierOf } from './faults.ts';
import type { Journal, RequestChange } from './journal.ts';
import { ApiError, type ErrorCode, findRoute, type Operation, type Route, readBody } from './protocol.ts';
import type { DeletedServers, Servers, WireServer } from './servers.ts';

interface ApiParts {
  readonly accounts: Accounts;
  readonly clock: HostingClock;
  readonly deleted: DeletedServers;
  readonly faults: FaultBook;
  readonly prices: PriceList;
  readonly rateLimit: RateLimit;
  readonly servers: Servers;
  readonly style: AnswerStyle;
}

interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code?: ErrorCode;
}

const BAD_GATEWAY_PAGE =
  '<!doctype html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

/** Carries out one API request, faults included, and ends its exchange; `closing` ends the waits of slow answers. */
export async function serveApi(parts: ApiParts, closing: AbortSignal, exchange: Exchange): Promise<void> {
  const { route } = exchange;
  try {
    if (!route) throw new ApiError('not_found');
    const body = await readBody(exchange.request);
    const account = admit(parts, exchange.request.headers.authorization);
    exchange.note({ accountId: account.id });
    if (!parts.rateLimit.accept(account.id, parts.clock.now())) throw new ApiError('rate_limited');
    const fault = parts.faults.take(route.operation, account.id);
    if (fault) exchange.note({ fault: fault.kind });

    const effect = effectOf(fault, route.operation);
    const outcome = effect.works
      ? carryOut(parts, exchange, route.operation, () => perform(parts, account, route, body, fault))
      : refusalOf(fault?.code ?? 'bad_request');
    if (effect.waits) await hold(fault, closing);
    show(exchange, effect, outcome, fault);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = refusalOf(error.code);
    exchange.json(status, body, { code: error.code });
  }
}

/** The account behind an `Authorization` header (docs/hosting-api.md 5). @throws ApiError unauthorized, not_allowed */
function admit({ accounts }: ApiParts, authorization: string | undefined): Account {
  const key = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  const account = key === undefined ? undefined : accounts.findByKey(key);
  if (!account) throw new ApiError('unauthorized');
  if (!accounts.isOpen(account)) throw new ApiError('not_allowed');
  return account;
}

function perform(
  parts: ApiParts,
  account: Account,
  route: Route,
  body: string,
  fault: FaultRule | undefined,
): unknown {
  const { servers, prices, deleted, style } = parts;
  const { id } = route;
  switch (route.operation) {
    case 'catalog':
      return prices.current;
    case 'servers':
      return [...servers.list(account), ...(style.listsDeleted === 'yes' ? deleted.list(account) : [])];
    case 'create':
      return servers.create(account, parseOrder(body, prices), supplierOf(fault));
    case 'renew':
      return servers.renew(account, id);
    case 'delete':
      return deleted.keep(account, servers, () => servers.remove(account, id));
    default:
      return servers.power(account, id, route.operation);
  }
}

/** Does the work and notes at once that it was done: a test may ask while the answer is still held back. */
function carryOut(parts: ApiParts, exchange: Exchange, operation: Operation, work: () => unknown): Outcome {
  const { style } = parts;
  try {
    const body = work();
    exchange.note({ didWork: true, serverId: idIn(body) });
    if (operation !== 'servers' || !isList(body)) return { status: 200, body: speak(style, operation, body) };
    return { status: 200, ...writeList(style, body, exchange.address) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.note({ didWork: error.code === 'checking' });
    return refusalOf(error.code);
  }
}

function isList(body: unknown): body is WireServer[] {
  return Array.isArray(body);
}

/** The server that an answer is about. */
function idIn(body: unknown): number | undefined {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
  return typeof id === 'number' ? id : undefined;
}

async function hold(fault: FaultRule | undefined, closing: AbortSignal): Promise<void> {
  // `ref: false`: a slow answer must not keep a finished process alive.
  await sleep(fault?.delayMs ?? 0, undefined, { ref: false, signal: closing });
}

function show(exchange: Exchange, effect: Effect, outcome: Outcome, fault: FaultRule | undefined): void {
  switch (effect.shows) {
    case 'answer':
      exchange.json(outcome.status, outcome.body, { code: outcome.code }, outcome.headers);
      break;
    case 'answer_with_error': {
      const code = fault?.code ?? 'bad_request';
      exchange.json(200, effect.works ? withError(outcome.body, code) : { success: false, error: code });
      break;
    }
    case 'other_answer': {
      const { status = 200, body, beside, headers } = fault ?? {};
      const shown = body ?? (beside ? withBeside(outcome.body, beside) : outcome.body);
      exchange.json(status, shown, {}, { ...outcome.headers, ...headers });
      break;
    }
    case 'cut':
      exchange.cut();
      break;
    case 'nothing':
      exchange.hang();
      break;
    case 'status_500':
      exchange.text(500, 'text/plain; charset=utf-8', 'Internal Server Error');
      break;
    case 'html':
      exchange.text(fault?.status ?? 502, 'text/html; charset=utf-8', BAD_GATEWAY_PAGE);
      break;
    case 'garbage':
      exchange.text(200, 'application/json; charset=utf-8', fault?.garbage ?? '{"id": 10');
      break;
  }
}

/** A success and a failure in one answer. */
function withError(body: unknown, code: ErrorCode): unknown {
  return withBeside(body, { error: { code, message: 'in words' } });
}

function withBeside(body: unknown, beside: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(body)) return { servers: body, ...beside };
  return typeof body === 'object' && body !== null ? { ...body, ...beside } : beside;
}

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
  ) {
    const method = request.method ?? '';
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
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
