import { API_CODES, type ApiCode } from '../../../src/core/errors.ts';
import type { Call, Kind, Row } from './row.ts';

const CALLS: readonly Call[] = ['list', 'catalog', 'create', 'renew', 'stop', 'delete'];
const PAID: readonly Call[] = ['create', 'renew'];

/** Bodies in which one level, or nothing else than the code, decides. */
const READABLE: readonly [string, (code: string) => unknown][] = [
  ['code', (code) => ({ code })],
  ['error.code', (code) => ({ error: { code, message: 'in words' } })],
  ['error_code', (error_code) => ({ error_code })],
  ['errors[0].code', (code) => ({ errors: [{ code, title: 'in words' }] })],
  ['message', (message) => ({ message })],
  ['name', (name) => ({ name, message: 'in words' })],
  ['id', (id) => ({ id, message: 'in words' })],
  ['[{code}]', (code) => [{ code }]],
  ['a bare string', (code) => JSON.stringify(code)],
  ['upper case', (code) => ({ code: code.toUpperCase() })],
  ['beside a numeric code', (error) => ({ code: 400, error })],
  ['below a level that only says error', (code) => ({ type: 'error', error: { type: code, message: 'no' } })],
  ['beside an address', (code) => ({ type: 'https://hosting.test/errors', title: code })],
  ['deep down', (code) => ({ a: { b: { code } } })],
  ['with prose', (cause) => ({ error: { message: 'supplier did not answer', cause } })],
  [
    'with details that are no codes',
    (code) => ({ code, fields: ['name', 'size'], retry: false, help: 'E 12' }),
  ],
];

/** Bodies whose other words or numbers may be the code: enough for a call that costs nothing, and not for one that does. */
const VAGUE: readonly [string, (code: string) => unknown][] = [
  ['beside another number', (cause) => ({ code: 5031, cause })],
  ['deep beside an unknown error', (cause) => ({ error: { error: { code: 'supplier_timeout', cause } } })],
  ['in a list beside another word', (code) => ({ errors: [code, 'supplier_timeout'] })],
  ['as a reason beside another one', (reason) => ({ errors: [{ reason }, { reason: 'supplier_timeout' }] })],
  ['beside a paid time', (code) => ({ code, paid_until: '2027-01-01T00:00:00Z' })],
];

/** Bodies in which only a human would find the code. */
const UNREADABLE: readonly [string, (code: string) => unknown][] = [
  ['in a sentence', (code) => ({ message: `the error is ${code}!` })],
  ['as a key', (code) => ({ errors: { [code]: true } })],
  ['as a number', () => ({ code: 4001 })],
  ['in a label', (code) => ({ label: code })],
  ['beside an unknown code', (code) => ({ code: 'supplier_error', cause: code })],
  ['below an unknown code', (code) => ({ code: 'upstream', error: { code } })],
  ['above an unknown second error', (code) => ({ errors: [{ code }, { code: 'supplier_timeout' }] })],
  ['cut off', (code) => `{"code":"${code}"`],
];

const STATUSES = [302, 400, 409, 500, 503];

/** `checking` of a paid call, and codes of free calls, are trusted with any status: the document names none. */
const refused = (
  call: Call,
  code: ApiCode,
  body: unknown,
  title: string,
  kind: Kind,
  more: Partial<Row> = {},
): Row => ({
  title: `${call} refused with ${code}: ${title}`,
  call,
  status: STATUSES[(title.length + code.length) % STATUSES.length] ?? 400,
  body,
  truth: { of: 'refused', code },
  kind,
  ...more,
});

/** Where a paid request would be sent again on the word of a code that no field for codes holds, it has to be the only word. */
const NOT_ALONE = new Set(['name', 'id', 'with prose']);

const EVERY_CODE: Row[] = CALLS.flatMap((call) =>
  API_CODES.flatMap((code) => [
    ...READABLE.map(([place, write]) => {
      const isVague = PAID.includes(call) && code === 'rate_limited' && NOT_ALONE.has(place);
      return refused(call, code, write(code), place, isVague ? 'told' : 'refused');
    }),
    ...VAGUE.map(([place, write]) =>
      refused(call, code, write(code), place, PAID.includes(call) ? 'told' : 'refused'),
    ),
    ...UNREADABLE.map(([place, write]) => refused(call, code, write(code), place, 'told')),
  ]),
);

/** Codes that contradict each other decide nothing. */
const CONTRADICTORY: Row[] = CALLS.flatMap((call) => [
  refused(call, 'limit', { code: 'limit', error: 'not_found' }, 'two codes', 'told'),
  refused(call, 'limit', { type: 'bad_request', detail: 'limit' }, 'a kind and a detail', 'told'),
  refused(call, 'checking', '{"code":"checking","code":"not_created"}', 'one field twice', 'told'),
  refused(call, 'checking', { code: 'not_created', error: 'checking' }, 'with checking', 'told'),
  refused(call, 'limit', { code: 'limit', data: { from: 'rate_limited' } }, 'another one deep down', 'told'),
]);

/** An order whose label, plan or place is a code: an answer that only repeats it proves nothing. */
const ECHOES: Row[] = API_CODES.flatMap((label) => {
  const other: ApiCode = label === 'bad_request' ? 'limit' : 'bad_request';
  return [
    refused('create', other, { code: other, message: label }, `repeating the label ${label}`, 'refused', {
      label,
    }),
    refused('create', other, { message: label }, `with the label ${label} alone`, 'told', { label }),
    refused(
      'create',
      other,
      { error: { code: 'label_taken', message: label } },
      `unknown, beside ${label}`,
      'told',
      { label },
    ),
  ];
});

const UNKNOWN_CODES: Row[] = CALLS.flatMap((call) =>
  ['quota_exceeded', 'E-LIMIT', 'notFound', 'limits', 'a'.repeat(50), 'pa55word'].map(
    (code): Row => ({
      title: `${call} refused with the unknown code ${code}`,
      call,
      status: 409,
      body: { code },
      truth: { of: 'unknown' },
      kind: 'told',
    }),
  ),
);

/** What proxies and frameworks answer, without any code, proves nothing. */
const WORDLESS: Row[] = CALLS.flatMap((call) =>
  ['', '{}', '<html>502 Bad Gateway</html>', '{"message":"no such server"}', '{"error":"Not Found"}'].flatMap(
    (body) =>
      [302, 400, 401, 403, 404, 422, 500, 502, 503].map(
        (status): Row => ({
          title: `${call} answered ${status} ${body}`,
          call,
          status,
          body,
          truth: { of: 'unknown' },
          kind: 'told',
        }),
      ),
  ),
);

/** A reason phrase is the transport's word, not the API's, unless it is the only documented one. */
const PHRASES: Row[] = CALLS.flatMap((call) => [
  refused(call, 'unauthorized', { error: 'Unauthorized' }, 'phrase', 'refused', { status: 401 }),
  refused(call, 'limit', { error: 'Forbidden', message: 'limit' }, 'a phrase', 'refused', { status: 403 }),
  refused(call, 'limit', { error: 'Forbidden', code: 'limit' }, 'another phrase', 'told', { status: 409 }),
]);

/** A 429 without any code is a rate limit only where trying again costs nothing. */
const TOO_MANY: Row[] = CALLS.flatMap((call) =>
  ['', '<html>', { message: 'Too Many Requests' }, { code: 'slow_down' }, { code: 429 }].map((body) => {
    const kind = PAID.includes(call) ? 'told' : 'refused';
    return refused(call, 'rate_limited', body, `429 ${JSON.stringify(body)}`, kind, { status: 429 });
  }),
);

export const REFUSALS: readonly Row[] = [
  ...EVERY_CODE,
  ...CONTRADICTORY,
  ...ECHOES,
  ...UNKNOWN_CODES,
  ...WORDLESS,
  ...PHRASES,
  ...TOO_MANY,
];
