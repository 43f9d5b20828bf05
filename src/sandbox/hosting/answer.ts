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
  /** The document says: an array. */
  listShape: ['array', 'servers', 'data', 'items', 'data.servers'],
  /** How a list that is longer than `pageSize` goes on; `none` lists everything at once (docs/hosting-api.md 4). */
  paging: ['none', 'next', 'link', 'cursor', 'has_more', 'total', 'partial'],
  /** Whether an object around a list has a field that is documented nowhere. */
  listBeside: ['nothing', 'unknown'],
  /** The object around the answer to a create, a renewal, a power action and a delete. */
  recordShape: ['plain', 'data', 'server', 'result'],
  passwordField: ['root_password', 'password', 'rootPassword', 'root_pw', 'credentials.password'],
  /** `huge` ids are above 2^53: no JavaScript number holds them. */
  ids: ['number', 'text', 'huge', 'huge_text'],
  dates: ['milliseconds', 'seconds', 'microseconds', 'offset', 'absent', 'nonsense'],
  states: ['documented', 'upper', 'padded', 'blank', 'absent'],
  /** What the answer to a delete says; the document shows `deleted` (docs/hosting-api.md 3). */
  deletedState: ['deleted', 'DELETED', 'deleting', 'running'],
  /** What the answer to a start says; the document shows `running` (docs/hosting-api.md 3). */
  startedState: ['running', 'starting', 'stopped'],
  /** Whether a deleted server stays in the list, in the state `deleted`. */
  listsDeleted: ['no', 'yes'],
  choices: ['strings', 'objects', 'names'],
  /** `in_usd` names the currency of each plan, which isn't documented. */
  prices: ['documented', 'number', 'three_decimals', 'comma', 'in_usd'],
  /** Whether an error repeats the label that was sent, in `message`. */
  echo: ['no', 'yes'],
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
  listShape: 'array',
  paging: 'none',
  listBeside: 'nothing',
  recordShape: 'plain',
  passwordField: 'root_password',
  ids: 'number',
  dates: 'milliseconds',
  states: 'documented',
  deletedState: 'deleted',
  startedState: 'running',
  listsDeleted: 'no',
  choices: 'strings',
  prices: 'documented',
  echo: 'no',
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

/** The JSON body that carries a code in the given place, and the label that was sent if it is to be repeated. */
export function errorBody(shape: ErrorShape, code: ErrorCode, echo?: string): unknown {
  const body = bareErrorBody(shape, code);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return echo !== undefined && isObject ? { message: echo, ...body } : body;
}

function bareErrorBody(shape: ErrorShape, code: ErrorCode): unknown {
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
