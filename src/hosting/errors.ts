import { HostingError, type HostingErrorDetails } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';
import { findCode, findUnknownCode } from './codes.ts';
import type { Endpoint } from './endpoint.ts';

/** Codes that leave open whether a paid call was paid. Every other one is proof that it was not, or was undone. */
const PROVE_NOTHING: readonly HostingError['code'][] = [
  'checking', // "the service completes the server or returns the month's charge" (docs/hosting-api.md 7)
  'no_answer',
  'unreadable_answer',
  'unknown_code',
];

/** Makes the error of one call. Money effect: only a paid call whose answer proves nothing may have moved money. */
export function makeError(
  endpoint: Pick<Endpoint<unknown>, 'operation' | 'isPaid'>,
  code: HostingError['code'],
  details: HostingErrorDetails = {},
  sealedAnswer?: Secret<string>,
): HostingError {
  const moneyMoved = endpoint.isPaid && PROVE_NOTHING.includes(code) ? 'maybe' : 'no';
  return new HostingError(code, moneyMoved, { operation: endpoint.operation, ...details }, sealedAnswer);
}

/** `rate_limited`, with the time after which the service asked us to retry, if it did. */
export class RateLimitedError extends HostingError {
  readonly retryAfter: string | undefined;

  constructor(details: HostingErrorDetails, retryAfter: string | undefined) {
    super('rate_limited', 'no', details);
    this.retryAfter = retryAfter;
  }
}

/**
 * Makes the error for an answer outside 2xx. A documented code is trusted with any status, since the document names no
 * statuses. Without such a code the answer may come from a gateway rather than the API, so it proves nothing. The one
 * exception is a 429 for a call that costs nothing, where retrying later is always safe; for a paid call not even a
 * 429 is proof.
 */
export function readError(
  endpoint: Pick<Endpoint<unknown>, 'operation' | 'isPaid' | 'body'>,
  answer: { readonly status: number; readonly retryAfter?: string },
  body: unknown,
  sealed?: Secret<string>,
): HostingError {
  const { operation, isPaid, body: sent } = endpoint;
  const { status, retryAfter } = answer;
  const verdict = findCode(body, sent);
  const code = verdict.kind === 'one' ? verdict.code : undefined;
  const isTooMany = verdict.kind === 'none' && status === 429 && !isPaid;
  if (code === 'rate_limited' || isTooMany) return new RateLimitedError({ operation, status }, retryAfter);
  if (code !== undefined) return makeError(endpoint, code, { status });
  if (verdict.kind === 'ambiguous') {
    return makeError(endpoint, 'unreadable_answer', { status, problem: 'ambiguous_code' }, sealed);
  }
  const unknownCode = findUnknownCode(body, sent);
  if (unknownCode === undefined) return makeError(endpoint, 'unreadable_answer', { status }, sealed);
  return makeError(endpoint, 'unknown_code', { status, unknownCode }, sealed);
}
