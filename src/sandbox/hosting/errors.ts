/** Every error code, in the order of docs/hosting-api.md 7. */
export const ERROR_CODES = [
  'unauthorized',
  'not_allowed',
  'bad_request',
  'not_enough_balance',
  'limit',
  'not_created',
  'checking',
  'not_found',
  'wrong_state',
  'rate_limited',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** A refusal of the service, which the caller gets as a code (docs/hosting-api.md 7). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}
