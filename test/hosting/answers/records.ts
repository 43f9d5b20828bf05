import { API_CODES } from '../../../src/domain/errors.ts';
import { type Call, ID, type Kind, type Row, type Truth } from './row.ts';

const AT = Date.UTC(2026, 11, 1);
const PASSWORD = 'p<&*`_~|"\\ 9';
const MADE = {
  of: 'done' as const,
  server: { id: '7', state: 'creating' },
  password: PASSWORD,
} satisfies Truth;
const RENEWED: Truth = { of: 'done', server: { id: '7', paidUntil: AT } };
const STOPPED: Truth = { of: 'done', server: { id: '7', state: 'stopped' } };
const UNKNOWN: Truth = { of: 'unknown' };

const ANSWERS = {
  create: { body: { id: ID, state: 'creating', root_password: PASSWORD }, truth: MADE },
  renew: { body: { id: ID, paid_until: '2026-12-01T00:00:00Z' }, truth: RENEWED },
  stop: { body: { id: ID, state: 'stopped' }, truth: STOPPED },
  delete: { body: { id: ID, state: 'stopped' }, truth: STOPPED },
} as const;
const CALLS = ['create', 'renew', 'stop', 'delete'] as const;

const row = (call: Call, body: unknown, truth: Truth, kind: Kind, more: Partial<Row> = {}): Row => ({
  title: `${call} answered ${typeof body === 'string' ? body.slice(0, 70) : JSON.stringify(body).slice(0, 90)}`,
  call,
  body,
  truth,
  kind,
  ...more,
});

/** Every shape around a good answer. */
const ENVELOPED: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = ANSWERS[call];
  const good: unknown[] = [
    body,
    { data: body },
    { server: body },
    { result: body },
    { data: { server: body } },
    { success: true, error: null, data: body },
    { ...body, errors: [], code: 0, status: 'ok', message: 'done' },
    { ...body, id: String(ID), extra: [1] },
    { ...body, server: body },
    [body],
  ];
  const statuses = [200, 201, 202, 203, 299].map((status) =>
    row(call, body, truth, 'understood', { status }),
  );
  return [...good.map((one) => row(call, one, truth, 'understood')), ...statuses];
});

/** A 2xx that carries an error: it may have been done, or not. */
const CARRIES_ERROR: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = ANSWERS[call];
  const signs = [
    ...API_CODES.flatMap((code) => [{ code }, { error: code }, { message: code }, { status: code }]),
    { error: 'x' },
    { error: true },
    { error: { message: 'no' } },
    { errors: ['x'] },
    { errors: { label: ['taken'] } },
    { error_code: 'E1' },
    { errorCode: 12 },
    { exception: 'Timeout' },
    { failed: true },
    { success: false },
    { success: 'false' },
    { ok: false },
    { ok: 0 },
    { status: 'error' },
    { status: 'FAILED' },
    { status: 500 },
    { code: 402 },
    { code: '404' },
    { meta: { error: 'x' } },
    { data: { error: 'x' } },
    { result: { success: false } },
  ];
  return signs.map((sign) => row(call, { ...body, ...sign }, truth, 'told'));
});

/** States that are codes of the document, and answers that contradict themselves. */
const CONTRADICTORY: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = ANSWERS[call];
  return [
    ...API_CODES.map((state) => row(call, { ...body, state }, truth, 'told')),
    row(call, { ...body, data: { id: 8 } }, truth, 'told'),
    // Nothing is said of the state after a renewal, so two of them contradict nothing there.
    row(
      call,
      { ...body, data: { ...body, state: 'other' }, state: 'running' },
      truth,
      call === 'renew' ? 'understood' : 'told',
    ),
    row(
      call,
      { ...body, data: { ...body, paid_until: '2027-01-01' } },
      truth,
      call === 'renew' ? 'told' : 'understood',
    ),
    row(call, [{ ...body, error: 'x' }], truth, 'told'),
    row(call, { ...body, id: 'req-1', data: body }, truth, 'told'),
    row(call, JSON.stringify(body).replace('"id":7', '"id":8,"id":7'), truth, 'told'),
    row(call, [body, { ...body, id: 8 }], truth, 'told'),
  ];
});

/** Answers that name no server, another one, or nothing at all. */
const NAMELESS: Row[] = CALLS.flatMap((call) =>
  [
    '{}',
    '[]',
    'null',
    'true',
    '7',
    '"ok"',
    'OK',
    '{"id":',
    '<html></html>',
    '{"success":true}',
    '{"state":"stopped"}',
    '{"id":null}',
    '{"id":"07"}',
    '{"id":7.5}',
    '{"server_id":7}',
    ...(call === 'create' ? [] : ['{"id":8,"state":"stopped"}', '{"id":70}', '{"id":"8"}']),
  ].map((body) => row(call, body, UNKNOWN, 'told')),
);

const EMPTY: Row[] = [
  row('create', '', UNKNOWN, 'told', { status: 204 }),
  row('renew', '', UNKNOWN, 'told', { status: 204 }),
  row('stop', '', STOPPED, 'told', { status: 204 }),
  row('delete', ' \n', STOPPED, 'told'),
];

/** The password in other places and other ways of writing: never altered, never thrown away. */
const written = (field: string, text: string, password: string, kind: Kind) =>
  row('create', `{"id":7,"state":"creating",${field}:${text}}`, { ...MADE, password }, kind);

const PASSWORDS: Row[] = [
  ...[
    'password',
    'rootPassword',
    'root_pw',
    'root-password',
    'rootpw',
    'initial_password',
    'Root_Password',
    'passwd',
  ].map((name) => row('create', { id: ID, state: 'creating', [name]: PASSWORD }, MADE, 'understood')),
  ...['credentials', 'login', 'access', 'root'].map((name) =>
    row(
      'create',
      { id: ID, state: 'creating', [name]: { user: 'root', password: PASSWORD } },
      MADE,
      'understood',
    ),
  ),
  row(
    'create',
    { id: ID, state: 'creating', root_password: PASSWORD, password: 'other' },
    MADE,
    'understood',
  ),
  row('create', { id: ID, state: 'creating', root_password: '', password: PASSWORD }, MADE, 'understood'),
  ...['0', '7', '12345678901234567890', '0.10', '1e400', '1E5', '-0', '1.0', '100000000000000000000000'].map(
    (text) => written('"root_password"', text, text, 'understood'),
  ),
  written('"root_password"', '"00123"', '00123', 'understood'),
  written('"root_password"', '" spaces "', ' spaces ', 'understood'),
  written('"root_password"', '"\\u00fc\\u20ac"', 'ü€', 'understood'),
  written('"root_password"', '"x\\ud800"', 'x\ud800', 'told'),
  written('"root_password"', '{"value":"secret-1"}', 'secret-1', 'told'),
  written('"root_password"', '["secret-1"]', 'secret-1', 'told'),
  written('"secret_key_of_root"', '"secret-1"', 'secret-1', 'told'),
  written('"password":"secret-1","adminPassword"', '"secret-2"', 'secret-2', 'told'),
  row('create', '{"id":7,"state":"creating"}', { of: 'done', server: MADE.server }, 'understood'),
  row('create', { id: ID, state: 'creating', ticket: { password: PASSWORD } }, MADE, 'told'),
  ...['9007199254740993', '"123456789012345678901"', 'null', '"x7"'].map((id) =>
    row('create', `{"id":${id},"root_password":"secret-1"}`, { ...MADE, password: 'secret-1' }, 'told'),
  ),
  ...[302, 409, 500].map((status) =>
    row(
      'create',
      { id: ID, root_password: 'secret-1', code: 'odd' },
      { ...MADE, password: 'secret-1' },
      'told',
      { status },
    ),
  ),
  row(
    'create',
    '{"root_password":"secret-1","root_password":"secret-2"}',
    { ...MADE, password: 'secret-2' },
    'told',
  ),
  row('create', '{"root_password":"secret-1"', { ...MADE, password: 'secret-1' }, 'told'),
];

const DATES: Row[] = [
  'null',
  '""',
  '"soon"',
  '"1970-01-01T00:00:00Z"',
  '"2026-02-30T00:00:00Z"',
  '1796083200',
  '{}',
].map((date) => row('renew', `{"id":7,"paid_until":${date}}`, RENEWED, 'told'));

const STATES: Row[] = (['stop', 'delete'] as const).flatMap((call) => [
  ...['running', 'deleting', 'DELETED', 'deleted', 'gone'].map((state) =>
    row(
      call,
      { id: ID, state },
      { of: 'done', server: { id: '7', state: state.toLowerCase() } },
      'understood',
    ),
  ),
  ...['', ' ', null, [], true].map((state) => row(call, { id: ID, state }, STOPPED, 'told')),
]);

export const RECORDS: readonly Row[] = [
  ...ENVELOPED,
  ...CARRIES_ERROR,
  ...CONTRADICTORY,
  ...NAMELESS,
  ...EMPTY,
  ...PASSWORDS,
  ...DATES,
  ...STATES,
];
