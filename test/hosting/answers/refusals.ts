import { API_CODES, type ApiCode } from '../../../src/domain/errors.ts';
import type { Call, Kind, Row } from './row.ts';

const CALLS: readonly Call[] = ['list', 'catalog', 'create', 'renew', 'stop', 'delete'];

/** Bodies that hold the code as a JSON string in an error-like field. */
const READABLE: readonly [string, (code: string) => unknown][] = [
  ['code', (code) => ({ code })],
  ['error', (error) => ({ error })],
  ['error and words', (error) => ({ error, message: 'in words' })],
  ['error.code', (code) => ({ error: { code, message: 'in words' } })],
  ['error.type', (type) => ({ error: { type } })],
  ['error.reason', (reason) => ({ error: { reason } })],
  ['error.message', (message) => ({ error: { message } })],
  ['error.error.code', (code) => ({ error: { error: { code } } })],
  ['error.details[0].reason', (reason) => ({ error: { details: [{ reason }] } })],
  ['error_code', (error_code) => ({ error_code })],
  ['errorCode', (errorCode) => ({ errorCode })],
  ['ErrorCode', (ErrorCode) => ({ ErrorCode })],
  ['err', (err) => ({ err })],
  ['errors[0]', (error) => ({ errors: [error] })],
  ['errors[0].code', (code) => ({ errors: [{ code, title: 'in words' }] })],
  ['errors[0].detail', (detail) => ({ errors: [{ detail }] })],
  ['errors.code', (code) => ({ errors: { code } })],
  ['message', (message) => ({ message })],
  ['msg', (msg) => ({ msg })],
  ['type', (type) => ({ type, title: 'In words', status: 400 })],
  ['detail', (detail) => ({ detail })],
  ['details', (details) => ({ details })],
  ['title', (title) => ({ title })],
  ['reason', (reason) => ({ status: 400, reason })],
  ['status', (status) => ({ status })],
  ['name', (name) => ({ name, message: 'in words' })],
  ['id', (id) => ({ id, message: 'in words' })],
  ['data.code', (code) => ({ data: { code } })],
  ['data.error', (error) => ({ success: false, data: { error } })],
  ['response.error.code', (code) => ({ response: { error: { code } } })],
  ['[{code}]', (code) => [{ code }]],
  ['[code]', (code) => [code]],
  ['a bare string', (code) => JSON.stringify(code)],
  ['upper case', (code) => ({ code: code.toUpperCase() })],
  ['dashes', (code) => ({ code: code.replaceAll('_', '-') })],
  ['blanks', (code) => ({ code: ` ${code}\n` })],
  ['beside a numeric code', (error) => ({ code: 400, error })],
  ['beside words', (code) => ({ code, error: 'Bad Request', message: 'in words' })],
  ['twice', (code) => ({ code, error: { code } })],
];

/** Bodies in which only a human would find the code. */
const UNREADABLE: readonly [string, (code: string) => unknown][] = [
  ['in a sentence', (code) => ({ message: `the error is ${code}!` })],
  ['in an address', (code) => ({ type: `https://hosting.test/errors/${code}` })],
  ['as a key', (code) => ({ errors: { [code]: true } })],
  ['as plain text', (code) => `error: ${code}`],
  ['on a page', (code) => `<html><h1>${code}</h1></html>`],
  ['as XML', (code) => `<error><code>${code}</code></error>`],
  ['as a number', () => ({ code: 4001 })],
  ['deep down', (code) => ({ a: { b: { code } } })],
  ['in a field that is not about errors', (code) => ({ label: code, plan: code })],
  ['not at all', () => ({})],
  ['not at all, nor JSON', () => ''],
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

const EVERY_CODE: Row[] = CALLS.flatMap((call) =>
  API_CODES.flatMap((code) => [
    ...READABLE.map(([place, write]) => refused(call, code, write(code), place, 'refused')),
    ...UNREADABLE.map(([place, write]) => refused(call, code, write(code), place, 'told')),
  ]),
);

/** Codes that contradict each other. `checking` wins: it says that money may have moved. */
const CONTRADICTORY: Row[] = CALLS.flatMap((call) => [
  refused(call, 'limit', { code: 'limit', error: 'not_found' }, 'two codes', 'told'),
  refused(call, 'limit', { errors: [{ code: 'limit' }, { code: 'bad_request' }] }, 'two errors', 'told'),
  refused(call, 'limit', { type: 'bad_request', detail: 'limit' }, 'a kind and a detail', 'told'),
  refused(call, 'checking', '{"code":"checking","code":"not_created"}', 'one field twice', 'told'),
  refused(call, 'checking', { code: 'not_created', error: 'checking' }, 'with checking', 'refused'),
  refused(
    call,
    'checking',
    { errors: ['limit', 'not_found', 'checking'] },
    'with checking among three',
    'refused',
  ),
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
      { error: 'in words', name: label.toUpperCase() },
      `with the label ${label} as name`,
      'told',
      { label },
    ),
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
  [
    'quota_exceeded',
    'E-LIMIT',
    'notFound',
    'Not Found',
    'internal',
    'limits',
    'limit_reached',
    'a'.repeat(50),
    'pa55word',
  ].map(
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

export const REFUSALS: readonly Row[] = [...EVERY_CODE, ...CONTRADICTORY, ...ECHOES, ...UNKNOWN_CODES];
