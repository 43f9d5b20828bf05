import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './accounts.ts';
import { refusalOf, speak, speakCatalog, writeList } from './answers.ts';
import { parseOrder } from './catalog.ts';
import { type Effect, effectOf, type FaultRule, supplierOf } from './faults.ts';
import type { HostingService } from './hosting.ts';
import type { Journal, RequestChange } from './journal.ts';
import { ApiError, type ErrorCode, findRoute, type Operation, type Route, readBody } from './protocol.ts';

interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: OutgoingHttpHeaders;
  readonly code?: ErrorCode;
}

const BAD_GATEWAY_PAGE =
  '<!doctype html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

/** Carries out one API request, faults included, and ends its exchange; `closing` ends the waits of slow answers. */
export async function serveApi(
  service: HostingService,
  closing: AbortSignal,
  exchange: Exchange,
): Promise<void> {
  const { route } = exchange;
  try {
    if (!route) throw new ApiError('not_found');
    const body = await readBody(exchange.request);
    const account = admit(service, exchange.request.headers.authorization);
    exchange.note({ accountId: account.id });
    if (!service.rateLimit.accept(account.id, service.clock.now())) throw new ApiError('rate_limited');
    const fault = service.faults.take(route.operation, account.id);
    if (fault) exchange.note({ fault: fault.kind });

    const effect = effectOf(fault, route.operation);
    const outcome = effect.works
      ? carryOut(service, exchange, route.operation, () => perform(service, account, route, body, fault))
      : refusalOf(fault?.code ?? 'bad_request');
    // `ref: false`: a slow answer must not keep a finished process alive.
    if (effect.waits) await sleep(fault?.delayMs ?? 0, undefined, { ref: false, signal: closing });
    show(exchange, effect, outcome, fault);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = refusalOf(error.code);
    exchange.json(status, body, { code: error.code });
  }
}

/** The account behind an `Authorization` header (docs/hosting-api.md 5). @throws ApiError unauthorized, not_allowed */
function admit({ accounts }: HostingService, authorization: string | undefined): Account {
  const key = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  const account = key === undefined ? undefined : accounts.findByKey(key);
  if (!account) throw new ApiError('unauthorized');
  if (!accounts.isOpen(account)) throw new ApiError('not_allowed');
  return account;
}

function perform(service: HostingService, account: Account, route: Route, body: string, fault?: FaultRule) {
  const { servers, prices, style } = service;
  const { id } = route;
  switch (route.operation) {
    case 'catalog':
      return speakCatalog(style, prices.current);
    case 'servers':
      return [
        ...servers.list(account),
        ...(style.listsDeleted === 'yes' ? servers.listDeleted(account) : []),
      ];
    case 'create':
      return servers.create(account, parseOrder(body, prices), supplierOf(fault));
    case 'renew':
      return servers.renew(account, id);
    case 'delete':
      return servers.remove(account, id);
    default:
      return servers.power(account, id, route.operation);
  }
}

/** Does the work and notes at once that it was done: a test may ask while the answer is still held back. */
function carryOut(
  { style }: HostingService,
  exchange: Exchange,
  operation: Operation,
  work: () => ReturnType<typeof perform>,
): Outcome {
  try {
    const body = work();
    exchange.note({ didWork: true, serverId: 'id' in body ? body.id : undefined });
    if (Array.isArray(body)) return { status: 200, ...writeList(style, body, exchange.address) };
    return { status: 200, body: speak(style, operation, body) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.note({ didWork: error.code === 'checking' });
    return refusalOf(error.code);
  }
}

function show(exchange: Exchange, effect: Effect, outcome: Outcome, fault: FaultRule | undefined): void {
  switch (effect.shows) {
    case 'answer':
      exchange.json(outcome.status, outcome.body, { code: outcome.code }, outcome.headers);
      break;
    case 'answer_with_error': {
      const code = fault?.code ?? 'bad_request';
      const both = withBeside(outcome.body, { error: { code, message: 'in words' } });
      exchange.json(200, effect.works ? both : { success: false, error: code });
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

  constructor(request: IncomingMessage, response: ServerResponse, { journal, clock }: HostingService) {
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

  note(change: RequestChange): void {
    this.#journal.note(this.#entryId, change);
  }

  json(status: number, value: unknown, change: RequestChange = {}, headers: OutgoingHttpHeaders = {}): void {
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
    headers: OutgoingHttpHeaders = {},
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
