import type { ErrorCode } from './errors.ts';
import type { Operation } from './routes.ts';

/** Where an error's code is in its body; the field's name is an open question (docs/hosting-api.md 7). */
export const ERROR_SHAPES = [
  'code',
  'error',
  'error.code',
  'error_code',
  'errors[0].code',
  'string',
  'message',
  'type',
  'detail',
  'errorCode',
  'data.code',
  '[{code}]',
] as const;

export type ErrorShape = (typeof ERROR_SHAPES)[number];

/** What docs/hosting-api.md leaves open about answers, with every way this service can speak. The first is the default. */
export const DIALECT = {
  errorShape: ERROR_SHAPES,
  /** How a list that is longer than `pageSize` goes on; `none` lists everything at once (docs/hosting-api.md 4). */
  paging: ['none', 'next', 'link', 'cursor', 'has_more', 'total', 'partial'],
  /** Whether an object around a list has a field that is documented nowhere. */
  listBeside: ['nothing', 'unknown'],
  passwordField: ['root_password', 'rootPassword'],
  /** What the answer to a delete says; the document shows `deleted` (docs/hosting-api.md 3). */
  deletedState: ['deleted', 'DELETED', 'deleting', 'running'],
  /** What the answer to a start says; the document shows `running` (docs/hosting-api.md 3). */
  startedState: ['running', 'starting', 'stopped'],
  /** Whether a deleted server stays in the list, in the state `deleted`. */
  listsDeleted: ['no', 'yes'],
  /** `in_usd` names the currency of each plan, which isn't documented. */
  prices: ['documented', 'in_usd'],
} as const;

type Dialect = { readonly [Trait in keyof typeof DIALECT]: (typeof DIALECT)[Trait][number] };

/** How answers look, so that a client can be tried against every reading of docs/hosting-api.md. */
export interface AnswerStyle extends Dialect {
  readonly errorStatus: Readonly<Record<ErrorCode, number>>;
  readonly successStatus: Readonly<Partial<Record<Operation, number>>>;
  /** Servers on a page, unless `paging` is `none`. */
  readonly pageSize: number;
}

/** A change of the style: what is left out stays as it is. */
export type AnswerStyleChange = Partial<Omit<AnswerStyle, 'errorStatus'>> & {
  readonly errorStatus?: Partial<Record<ErrorCode, number>>;
};

/** As the document shows it; `{"code": …}` with the customary statuses and 200 where it is silent. */
export const DEFAULT_STYLE: AnswerStyle = {
  errorShape: 'code',
  paging: 'none',
  listBeside: 'nothing',
  passwordField: 'root_password',
  deletedState: 'deleted',
  startedState: 'running',
  listsDeleted: 'no',
  prices: 'documented',
  pageSize: 50,
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

/** A style with some of it changed. @throws RangeError for an error status inside 2xx, a success outside it, or a word it can't speak */
export function restyle(style: AnswerStyle, change: AnswerStyleChange): AnswerStyle {
  const errorStatus = { ...style.errorStatus, ...change.errorStatus };
  const successStatus = { ...style.successStatus, ...change.successStatus };
  for (const status of Object.values(errorStatus))
    if (!(status >= 300 && status <= 599))
      throw new RangeError(`An error is answered outside 2xx, not ${status}.`);
  for (const status of Object.values(successStatus))
    if (!(status >= 200 && status <= 299)) throw new RangeError(`A success is answered 2xx, not ${status}.`);
  const changed = { ...style, ...change, errorStatus, successStatus };
  for (const [trait, spoken] of Object.entries(DIALECT)) {
    const wanted: unknown = Reflect.get(changed, trait);
    if (!spoken.some((word) => word === wanted))
      throw new RangeError(`${trait} is one of ${spoken.join(', ')}, not "${String(wanted)}".`);
  }
  if (!(Number.isInteger(changed.pageSize) && changed.pageSize >= 1))
    throw new RangeError('pageSize is a whole number above zero.');
  return changed;
}

/** The JSON body that carries a code in the given place. */
export function errorBody(shape: ErrorShape, code: ErrorCode): unknown {
  switch (shape) {
    case 'error.code':
      return { error: { code } };
    case 'errors[0].code':
      return { errors: [{ code }] };
    case 'data.code':
      return { data: { code } };
    case '[{code}]':
      return [{ code }];
    case 'string':
      return code;
    default:
      return { [shape]: code };
  }
}
