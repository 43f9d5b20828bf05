import { STATUS_CODES } from 'node:http';
import { API_CODES, type ApiCode, HostingError, type HostingErrorDetails } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Endpoint } from './endpoints.ts';
import { fieldsOf, findWhole, isEmpty, listLeaves } from './fields.ts';
import { asCode, type Sent } from './verdict.ts';

// What an answer outside 2xx proves (docs/hosting-api.md 7.3, 7.4): nothing, unless one documented code decides it.

/** Codes that leave open whether a paid call was charged. Every other code proves that it wasn't, or that the charge was undone. */
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
 * Makes the error for an answer outside 2xx. A documented code that decides is trusted with any status, since the
 * document names no statuses. Without one the answer may come from a gateway rather than the API, so it proves nothing.
 * The one exception is a 429 without any documented code for a call that costs nothing, where retrying is always safe.
 */
export function readError(
  endpoint: Pick<Endpoint<unknown>, 'operation' | 'isPaid' | 'body'>,
  answer: { readonly status: number; readonly retryAfter?: string },
  body: unknown,
  sealed?: Secret<string>,
): HostingError {
  const { operation, isPaid, body: sent } = endpoint;
  const { status, retryAfter } = answer;
  const { code, named, unknownCode, isAlone } = findCode(body, status, sent);
  const isTooMany = status === 429 && !isPaid && named.length === 0;
  // What is told or done about money needs more than one word somewhere: an answer without any sign of work that was done.
  const isProof =
    code !== undefined && (!isPaid || (isAlone && sealed === undefined && !showsWork(body, sent)));
  if ((code === 'rate_limited' && isProof) || isTooMany)
    return new RateLimitedError({ operation, status }, retryAfter);
  if (isProof) return makeError(endpoint, code, { status });
  if (named.length > 0) {
    return makeError(endpoint, 'unreadable_answer', { status, problem: 'ambiguous_code' }, sealed);
  }
  if (unknownCode === undefined) return makeError(endpoint, 'unreadable_answer', { status }, sealed);
  return makeError(endpoint, 'unknown_code', { status, unknownCode }, sealed);
}

interface FoundCode {
  /** The documented code that decides. */
  readonly code?: ApiCode;
  /** Nothing else in the answer could be a code. */
  readonly isAlone?: boolean;
  /** All documented codes in the answer, echoes included. */
  readonly named: readonly ApiCode[];
  /** For the log: the first undocumented word where a code would decide, if it can't be a secret. */
  readonly unknownCode?: string | undefined;
}

/**
 * Finds the code that decides: the one that every code field of the shallowest level names, or, where no level names
 * any, the only documented code in the answer. Two different ones anywhere decide nothing.
 */
function findCode(body: unknown, status: number, sent: Sent): FoundCode {
  const leaves = listLeaves(body);
  const strings = leaves.flatMap(({ name, value }) =>
    typeof value === 'string' && name !== 'label' ? [value.trim()] : [],
  );
  const said = strings.map(asCode);
  const named = API_CODES.filter((each) => said.includes(each));
  const echoes = new Set(Object.values(sent ?? {}).map(asCode));
  const isIgnored = (token: string) =>
    token === STATUS_CODES[status] || /^(?:error|fail|failed)$/i.test(token) || echoes.has(asCode(token));
  const tokens = tokensIn(body, isIgnored);
  const [only, ...rivals] = tokens.length > 0 ? new Set(tokens.map(asCode)) : new Set(named);
  const code = API_CODES.find((each) => each === only && !echoes.has(each));
  const isOnly = rivals.length === 0 && named.every((each) => each === code || echoes.has(each));
  if (code === undefined || !isOnly) return { named, unknownCode: tokens.find(isLoggable) };
  // Where no field for codes decides, a number or another word may be the code that would.
  const numbers = leaves.filter(
    ({ name, value }) => /code|err/i.test(name) && findWhole(value) !== undefined,
  );
  // A request that may be repeated on the word of it needs to be the only thing that the answer says.
  const isProse = (text: string) => /\s/.test(text) && code !== 'rate_limited';
  const isAlone =
    numbers.every(({ value }) => findWhole(value) === status) &&
    strings.every(
      (text) => isProse(text) || /^(?:\/|https?:|$)/i.test(text) || isIgnored(text) || asCode(text) === code,
    );
  return { code, named, isAlone: tokens.length > 0 || isAlone };
}

/** Whether an error shows what only a success has. */
function showsWork(body: unknown, sent: Sent): boolean {
  return listLeaves(body).some(
    ({ name, value }) =>
      !isEmpty(value) &&
      (/^(?:root_password|paid_until)$/.test(name) ||
        (name === 'id' && sent !== undefined && findWhole(value) !== undefined)),
  );
}

/** The tokens of the shallowest level that has any in a field for codes. */
function tokensIn(body: unknown, isIgnored: (token: string) => boolean): string[] {
  const outer = Array.isArray(body) ? body : [body];
  const { error, data, errors } = fieldsOf(outer[0]);
  for (const level of [outer, [error], [data], Array.isArray(errors) ? errors : []]) {
    const errorsOf = level.map(fieldsOf);
    const coded = errorsOf.flatMap(({ code, error_code, errorCode, error: named }) => [
      code,
      error_code,
      errorCode,
      named,
    ]);
    for (const fields of [coded, errorsOf.map(({ type }) => type)]) {
      const tokens = fields.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []));
      const found = tokens.filter((token) => /^[A-Za-z][\w-]*$/.test(token) && !isIgnored(token));
      if (found.length > 0) return found;
    }
  }
  return [];
}

/** Only short words of letters, joined by hyphens or underscores: anything else may be a secret. */
function isLoggable(token: string): boolean {
  return token.length <= 40 && /^(?:[a-z]+|[A-Z]+)(?:[_-](?:[a-z]+|[A-Z]+)){0,5}$/.test(token);
}
