import { API_CODES, type ApiCode, HostingError, type HostingErrorDetails } from '../domain/errors.ts';
import type { Endpoint } from './endpoints.ts';

/** Codes that leave open whether a paid call was paid. Every other one is proof that it was not, or was undone. */
const PROVE_NOTHING: readonly HostingError['code'][] = [
  'checking', // "the service completes the server or returns the month's charge" (API document, section 7)
  'no_answer',
  'unreadable_answer',
  'unknown_code',
];

/** Makes the error of one call. Money effect: only a paid call whose answer proves nothing may have moved money. */
export function makeError(
  endpoint: Pick<Endpoint<unknown>, 'operation' | 'isPaid'>,
  code: HostingError['code'],
  details: HostingErrorDetails = {},
): HostingError {
  const moneyMoved = endpoint.isPaid && PROVE_NOTHING.includes(code) ? 'maybe' : 'no';
  return new HostingError(code, moneyMoved, { operation: endpoint.operation, ...details });
}

/** `rate_limited`, with the time after which the service asked us to come back, when it did. */
export class RateLimitedError extends HostingError {
  readonly retryAfter: string | undefined;

  constructor(details: HostingErrorDetails, retryAfter: string | undefined) {
    super('rate_limited', 'no', details);
    this.retryAfter = retryAfter;
  }
}

/**
 * Makes the error of an answer outside 2xx. A code of the document is believed whatever the status is, for the
 * document names no statuses. Without one the answer may be some gateway's and not the API's: it proves nothing,
 * whatever its status says. The one exception is a 429 for a call that costs nothing, where coming back later is
 * right whoever asked for it; for a paid call not even a 429 is proof.
 */
export function readError(
  endpoint: Pick<Endpoint<unknown>, 'operation' | 'isPaid'>,
  answer: { readonly status: number; readonly retryAfter?: string },
  body: unknown,
): HostingError {
  const { operation } = endpoint;
  const { status, retryAfter } = answer;
  const code = findCode(body);
  const isTooMany = code === undefined && status === 429 && !endpoint.isPaid;
  if (code === 'rate_limited' || isTooMany) return new RateLimitedError({ operation, status }, retryAfter);
  if (code !== undefined) return makeError(endpoint, code, { status });
  const unknownCode = findUnknownCode(body);
  if (unknownCode === undefined) return makeError(endpoint, 'unreadable_answer', { status });
  return makeError(endpoint, 'unknown_code', { status, unknownCode });
}

function findCode(body: unknown): ApiCode | undefined {
  const spoken = listTokens(body).map(normalise);
  return API_CODES.find((code) => spoken[0] === code) ?? API_CODES.find((code) => spoken.includes(code));
}

/** Only letters and underscores get into an error's details: anything longer or odder may be a secret. */
function findUnknownCode(body: unknown): string | undefined {
  return listTokens(body).find(
    (token) => /^(?:[a-z]+|[A-Z]+)(?:[_-](?:[a-z]+|[A-Z]+)){0,5}$/.test(token) && token.length <= 40,
  );
}

/** The document does not name the field that carries the code (section 7): the places where services put it. */
function listTokens(body: unknown): string[] {
  if (typeof body === 'string') return [body];
  const { code, error, error_code, errors, reason } = fieldsOf(body);
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const nested = [error, first]
    .map(fieldsOf)
    .flatMap((inner) => [inner.code, inner.error_code, inner.reason]);
  return [code, error, error_code, ...nested, first, reason].filter((token) => typeof token === 'string');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function normalise(token: string): string {
  return token.trim().toLowerCase().replaceAll('-', '_');
}
