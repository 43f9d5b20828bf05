import type { ErrorCode } from './errors.ts';
import type { Operation } from './routes.ts';

/** Where an error's code stands in its body; the API document, section 7, does not name the field. */
export const ERROR_SHAPES = [
  'code',
  'error',
  'error.code',
  'error_code',
  'errors[0].code',
  'string',
] as const;

export type ErrorShape = (typeof ERROR_SHAPES)[number];

/** What the API document leaves open about answers, so that a client can be tried against every reading. */
export interface AnswerStyle {
  readonly errorShape: ErrorShape;
  readonly errorStatus: Readonly<Record<ErrorCode, number>>;
  readonly successStatus: Readonly<Partial<Record<Operation, number>>>;
}

/** A change of the style: what is left out stays as it is. */
export interface AnswerStyleChange {
  readonly errorShape?: ErrorShape;
  readonly errorStatus?: Partial<Record<ErrorCode, number>>;
  readonly successStatus?: Partial<Record<Operation, number>>;
}

/** `{"code": …}` with the customary statuses, 200 for every success. */
export const DEFAULT_STYLE: AnswerStyle = {
  errorShape: 'code',
  errorStatus: {
    unauthorized: 401,
    not_allowed: 403,
    bad_request: 400,
    not_enough_balance: 402,
    limit: 409,
    not_created: 502,
    checking: 504,
    not_found: 404,
    wrong_state: 409,
    rate_limited: 429,
  },
  successStatus: {},
};

/** A style with some of it changed. @throws RangeError for an error status inside 2xx, or a success outside it */
export function restyle(style: AnswerStyle, change: AnswerStyleChange): AnswerStyle {
  const errorStatus = { ...style.errorStatus, ...change.errorStatus };
  const successStatus = { ...style.successStatus, ...change.successStatus };
  for (const status of Object.values(errorStatus))
    if (!(status >= 300 && status <= 599))
      throw new RangeError(`An error is answered outside 2xx, not ${status}.`);
  for (const status of Object.values(successStatus))
    if (!(status >= 200 && status <= 299)) throw new RangeError(`A success is answered 2xx, not ${status}.`);
  return { errorShape: change.errorShape ?? style.errorShape, errorStatus, successStatus };
}

/** The JSON body that carries a code in the given place. */
export function errorBody(shape: ErrorShape, code: ErrorCode): unknown {
  switch (shape) {
    case 'code':
      return { code };
    case 'error':
      return { error: code };
    case 'error.code':
      return { error: { code } };
    case 'error_code':
      return { error_code: code };
    case 'errors[0].code':
      return { errors: [{ code }] };
    case 'string':
      return code;
  }
}
