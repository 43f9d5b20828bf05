import { setTimeout as sleep } from 'node:timers/promises';
import type { Account, Accounts } from './accounts.ts';
import { type AnswerStyle, errorBody } from './answer.ts';
import { readBody } from './body.ts';
import type { PriceList } from './catalog.ts';
import type { HostingClock } from './clock.ts';
import type { DeletedServers } from './deleted.ts';
import { speak } from './dialect.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Effect, effectOf, type FaultBook, type FaultRule, supplierOf } from './faults.ts';
import { parseOrder } from './order.ts';
import { writeList } from './pages.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Operation, Route } from './routes.ts';
import type { WireServer } from './server-record.ts';
import type { Servers } from './servers.ts';

export interface ApiParts {
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
export async function serveApi(
  parts: ApiParts,
  closing: AbortSignal,
  exchange: Exchange,
  route: Route,
): Promise<void> {
  try {
    const body = await readBody(exchange.request);
    const account = admit(parts, exchange.request.headers.authorization);
    exchange.note({ accountId: account.id });
    if (!parts.rateLimit.accept(account.id, parts.clock.now())) throw new ApiError('rate_limited');
    const fault = parts.faults.take(route.operation, account.id);
    if (fault) exchange.note({ fault: fault.kind });

    const effect = effectOf(fault, route.operation);
    if (effect.waits === 'before_work') await hold(fault, closing);
    const outcome = effect.works
      ? carryOut(parts, exchange, route.operation, () => perform(parts, account, route, body, fault))
      : refusal(parts, fault?.code ?? 'bad_request');
    if (effect.waits === 'after_work') await hold(fault, closing);
    show(exchange, effect, outcome, fault);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = refusal(parts, error.code);
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
    const status = style.successStatus[operation] ?? 200;
    if (operation !== 'servers' || !isList(body)) return { status, body: speak(style, operation, body) };
    return { status, ...writeList(style, body, exchange.address) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.note({ didWork: error.code === 'checking' });
    return refusal(parts, error.code);
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

function refusal({ style }: ApiParts, code: ErrorCode): Outcome {
  return { status: style.errorStatus[code], body: errorBody(style.errorShape, code), code };
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
