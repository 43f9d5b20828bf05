import { STATUS_CODES } from 'node:http';
import { API_CODES, HostingError, type HostingErrorDetails } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Endpoint, WireAnswer } from './endpoints.ts';
import { fieldsOf, findWhole, isEmpty, listLeaves } from './fields.ts';
import { asCode, type Sent } from './verdict.ts';

// What an answer outside 2xx proves (docs/hosting-api.md 7.3, 7.4): nothing, unless one documented code decides.

/** The codes that leave open whether a paid call was charged. The others prove that nothing is paid (docs/hosting-api.md 7.2). */
const PROVE_NOTHING: readonly HostingError['code'][] = [
  'checking', // the service will complete the server or return the month's price (docs/hosting-api.md 3.7)
  'no_answer',
  'unreadable_answer',
  'unknown_code',
];

/** Makes the error of a failed call. `moneyMoved` is `maybe` only for a paid call whose code leaves that open. */
export function makeError(
  endpoint: Endpoint<unknown>,
  code: HostingError['code'],
  details: HostingErrorDetails = {},
  sealedAnswer?: Secret<string>,
): HostingError {
  const moneyMoved = endpoint.isPaid && PROVE_NOTHING.includes(code) ? 'maybe' : 'no';
  return new HostingError(code, moneyMoved, { operation: endpoint.operation, ...details }, sealedAnswer);
}

export class RateLimitedError extends HostingError {
  readonly retryAfter: string | undefined;

  constructor(details: HostingErrorDetails, retryAfter: string | undefined) {
    super('rate_limited', 'no', details);
    this.retryAfter = retryAfter;
  }
}

/**
 * Makes the error for an answer outside 2xx. Trusts a documented code that decides with any status, since the specification
 * names no statuses. Without one the answer may come from a gateway rather than the API, so it proves nothing. The one
 * exception is a 429 without any documented code for a call that costs nothing, where retrying is always safe.
 */
export function readError(
  endpoint: Endpoint<unknown>,
  { status, retryAfter }: WireAnswer,
  body: unknown,
  sealed?: Secret<string>,
): HostingError {
  const { operation, isPaid, body: sent } = endpoint;
  const { code, named, unknownCode, isAlone } = findCode(body, status, sent);
  const isTooMany = status === 429 && !isPaid && named.length === 0;
  // About money, a code proves something only if nothing else in the answer could be a code or the result of the work.
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

/**
 * Finds the code that decides (docs/hosting-api.md 7.4): the one that every code field of the shallowest level names, or, where
 * no level names any, the only documented code in the answer. Two different ones anywhere decide nothing. `named`: all documented
 * codes, also those that only repeat what was sent. `isAlone`: a field for codes decides, or nothing else could be a code.
 */
function findCode(body: unknown, status: number, sent: Sent) {
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
  // Without a field for codes that decides, any number or other word may be the real code.
  const numbers = leaves.filter(
    ({ name, value }) => /code|err/i.test(name) && findWhole(value) !== undefined,
  );
  // `rate_limited` leads to another request, so it has to be all that the answer says.
  const isProse = (text: string) => /\s/.test(text) && code !== 'rate_limited';
  const isAlone =
    numbers.every(({ value }) => findWhole(value) === status) &&
    strings.every(
      (text) => isProse(text) || /^(?:\/|https?:|$)/i.test(text) || isIgnored(text) || asCode(text) === code,
    );
  return { code, named, isAlone: tokens.length > 0 || isAlone };
}

/** Whether an error has what only a success has: a root password, a paid time, or the ID of an order's server. */
function showsWork(body: unknown, sent: Sent): boolean {
  return listLeaves(body).some(
    ({ name, value }) =>
      !isEmpty(value) &&
      (/^(?:root_password|paid_until)$/.test(name) ||
        (name === 'id' && sent !== undefined && findWhole(value) !== undefined)),
  );
}

/** Lists the tokens in the code fields of the shallowest level that has any (docs/hosting-api.md 7.4). */
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

/** Whether a token may be logged: short words of letters, joined by hyphens or underscores. Anything else may be a secret. */
function isLoggable(token: string): boolean {
  return token.length <= 40 && /^(?:[a-z]+|[A-Z]+)(?:[_-](?:[a-z]+|[A-Z]+)){0,5}$/.test(token);
}
