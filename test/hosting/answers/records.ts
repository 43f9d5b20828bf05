import { API_CODES } from '../../../src/core/errors.ts';
import { type Call, ID, type Kind, type Row, type Truth } from './row.ts';

const AT = Date.UTC(2026, 11, 1);
const PASSWORD = 'p<&*`_~|"\\ 9';
const MADE = {
  of: 'done' as const,
  server: { id: '7', state: 'creating' },
  password: PASSWORD,
} satisfies Truth;
const RENEWED: Truth = { of: 'done', server: { id: '7', paidUntil: AT } };
const stateIs = (state: string): Truth => ({ of: 'done', server: { id: '7', state } });
const UNKNOWN: Truth = { of: 'unknown' };

/** What proves each change (rule 2). */
const PROOFS = {
  create: { body: { id: ID, state: 'creating', root_password: PASSWORD }, truth: MADE },
  renew: { body: { id: ID, paid_until: '2026-12-01T00:00:00Z' }, truth: RENEWED },
  start: { body: { id: ID, state: 'running' }, truth: stateIs('running') },
  stop: { body: { id: ID, state: 'stopped' }, truth: stateIs('stopped') },
  reboot: { body: { id: ID, state: 'rebooting' }, truth: stateIs('rebooting') },
  delete: { body: { id: ID, state: 'deleted' }, truth: stateIs('deleted') },
} as const;
const CALLS = ['create', 'renew', 'start', 'stop', 'reboot', 'delete'] as const;
const POWER: readonly Call[] = ['start', 'stop', 'reboot'];

/** What becomes of an answer that neither proves anything nor says that it failed (rule 5). */
const leftOpen = (call: Call): Kind => (POWER.includes(call) ? 'accepted' : 'told');

const row = (call: Call, body: unknown, truth: Truth, kind: Kind, more: Partial<Row> = {}): Row => ({
  title: `${call} answered ${typeof body === 'string' ? body.slice(0, 70) : JSON.stringify(body).slice(0, 90)}`,
  call,
  body,
  truth,
  kind,
  ...more,
});

/** Rules 1, 2 and 4: a proof, in every shape around it that is looked through, beside what says nothing. */
const PROVEN: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = PROOFS[call];
  const good: unknown[] = [
    body,
    [body],
    ...['data', 'server', 'result', 'response', 'anything'].map((wrapper) => ({ [wrapper]: body })),
    { success: true, error: null, errors: [], data: body },
    { ...body, status: 200, statusCode: '200', result: 'success', failed: false, err: 0, problems: {} },
    { ...body, ok: true, accepted: 'TRUE', completed: 'Completed', outcome: 'OK' },
    { ...body, id: String(ID), failover_ip: '192.0.2.9', tags: ['a', 'b'] },
    { ...body, server: body },
    { ...body, message: 'Your request failed to be boring: it was declined by nobody' },
    { ...body, label: 'limit', plan: 's1', preferred: true, default_gateway: '192.0.2.254' },
    { ...body, links: { self: '/v1/servers/7?limit=50', docs: 'https://h.test/checking' }, limit: 5 },
    { ...body, location: { code: null, name: 'Frankfurt' } },
  ];
  const statuses = [200, 201, 202, 203, 299].map((status) =>
    row(call, body, truth, 'understood', { status }),
  );
  return [...good.map((one) => row(call, one, truth, 'understood')), ...statuses];
});

const YES_WORDS = 'ok success successful succeeded done completed'.split(' ');
const NO_WORDS = 'rejected error Failed pending partial no none unknown'.split(' ');
const STATEMENTS =
  'success ok status statusCode status_code result outcome code accepted done completed applied executed';

/** Rule 3: what takes a proof away. */
const SIGNS: readonly Readonly<Record<string, unknown>>[] = [
  ...API_CODES.flatMap((code) => [
    { code },
    { message: code },
    { status: code },
    { note: code.toUpperCase() },
    { hint: code.replaceAll('_', '-') },
    { reason: `api.${code}` },
    { warnings: [{ of: code }] },
    { [code]: true },
    { meta: { deep: { down: [code] } } },
  ]),
  ...STATEMENTS.split(' ').flatMap((name) => [
    ...[false, 'false', 0, '0', 500, '409', 'not completed', ''].map((value) => ({ [name]: value })),
    ...NO_WORDS.map((value) => ({ [name]: value })),
    { [name]: { [name]: false } },
  ]),
  { isSuccess: false },
  { http_status: 409 },
  { payment_status: 'declined' },
  { last: { state: 'failed' } },
  ...'err error errors errorCode error_message isError apiError failed failure hasFailed fault faults rejected rejection denied exception problem problems'
    .split(' ')
    .flatMap((name) => [
      ...['x', true, 12, 'E1', ['x'], { label: ['taken'] }, { message: 'in words' }].map((value) => ({
        [name]: value,
      })),
      { meta: { [name]: 'x' } },
    ]),
  ...['task', 'order', 'job', 'invoice'].flatMap((name) => [
    { [name]: { id: 991 } },
    { [name]: { id: 7 } },
    { [`${name}_id`]: 991 },
  ]),
  { server: { id: 8 } },
  { state: 'running', previous: { state: 'other' } },
];

const TAKEN_AWAY: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = PROOFS[call];
  const beside = SIGNS.map((sign) => row(call, { ...body, ...sign }, truth, 'told'));
  // As well as without any proof, and around a wrapper: a power action must not count as accepted then.
  const alone = SIGNS.filter((_, index) => index % 3 === 0).map((sign) =>
    row(call, { id: ID, ...sign }, UNKNOWN, 'told'),
  );
  const around = SIGNS.filter((_, index) => index % 3 === 1).map((sign) =>
    row(call, { wrapper: body, ...sign }, truth, 'told'),
  );
  return [...beside, ...alone, ...around];
});

/** Success is said in no other word than these, whatever the case. */
const SAID: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = PROOFS[call];
  return [...YES_WORDS, ...YES_WORDS.map((word) => word.toUpperCase())].flatMap((word) => [
    row(call, { ...body, status: word }, truth, 'understood'),
    row(call, { ...body, result: ` ${word} ` }, truth, 'understood'),
  ]);
});

/** Answers that contradict themselves. */
const CONTRADICTORY: Row[] = CALLS.flatMap((call) => {
  const { body, truth } = PROOFS[call];
  return [
    ...API_CODES.map((state) => row(call, { ...body, state }, truth, 'told')),
    row(call, { ...body, data: { ...body, state: 'other' }, state: 'running' }, truth, 'told'),
    row(call, { ...body, id: 'req-1', data: body }, truth, 'told'),
    row(call, JSON.stringify(body).replace('"id":7', '"id":8,"id":7'), truth, 'told'),
    row(call, [body, { ...body, id: 8 }], truth, 'told'),
    ...['order', 'task', 'job', 'invoice'].map((name) => row(call, { [name]: body }, truth, 'told')),
  ];
});

/** Rule 5: answers that neither prove anything nor say that it failed. */
const OPEN: Row[] = CALLS.flatMap((call) => [
  ...[200, 202, 204].map((status) => row(call, '', UNKNOWN, leftOpen(call), { status })),
  ...[
    ' \n',
    '{}',
    '{"success":true}',
    ...['message', 'msg', 'detail', 'description', 'info', 'note', 'text', 'title'].flatMap((name) =>
      ['Server rebooted', 'The action was scheduled and runs soon', 'limit reached? not at all'].map((said) =>
        JSON.stringify({ [name]: said }),
      ),
    ),
    '{"message":"Server could not be found in time, perhaps"}',
    '{"id":7}',
    '{"data":{"server":{"id":7,"state":"stopped","root_password":"","paid_until":null}}}',
    `{"id":${ID},"label":"limit"}`,
    '[{}]',
  ].map((body) => row(call, body, UNKNOWN, leftOpen(call))),
  // What is no object, or no JSON, may come from anybody.
  ...['[]', 'true', 'false', '7', '"ok"', 'OK', '{"id":', '<html></html>', '[{},{}]', '[[{"id":7}]]'].map(
    (body) => row(call, body, UNKNOWN, 'told'),
  ),
  // About another server, or about none that could be named.
  ...(call === 'create'
    ? []
    : ['{"id":8,"state":"stopped"}', '{"id":70}', '{"id":"07"}', '{"id":7.5}'].map((body) =>
        row(call, body, UNKNOWN, 'told'),
      )),
]);

/** The password in other places and other notations: never altered, never thrown away, and no proof. */
const written = (field: string, text: string, password: string, kind: Kind) =>
  row('create', `{"id":7,"state":"creating",${field}:${text}}`, { ...MADE, password }, kind);

const PASSWORDS: Row[] = [
  ...'password rootPassword root_pw root-password rootpw initial_password Root_Password passwd secret_key_of_root'
    .split(' ')
    .map((name) => row('create', { id: ID, state: 'creating', [name]: PASSWORD }, MADE, 'told')),
  ...['credentials', 'login', 'access', 'root', 'ticket'].map((name) =>
    row('create', { id: ID, state: 'creating', [name]: { user: 'root', password: PASSWORD } }, MADE, 'told'),
  ),
  row('create', { id: ID, state: 'creating', root_password: '', password: PASSWORD }, MADE, 'told'),
  ...['********', ' ', '•••'].map((hidden) =>
    row('create', { id: ID, root_password: hidden }, UNKNOWN, 'told'),
  ),
  ...['failed', 'error', 'rejected', 'deleted'].map((state) =>
    row(
      'create',
      { id: ID, state, root_password: PASSWORD },
      { ...MADE, server: { id: '7', state } },
      'told',
    ),
  ),
  row('create', { id: ID, root_password: PASSWORD }, { ...MADE, server: { id: '7' } }, 'understood'),
  row('create', { id: ID, root_password: 'limit' }, { ...MADE, password: 'limit' }, 'understood'),
  ...['0', '7', '12345678901234567890', '0.10', '1e400', '1E5', '-0', '1.0', '100000000000000000000000'].map(
    (text) => written('"root_password"', text, text, 'told'),
  ),
  written('"root_password"', '" spaces "', ' spaces ', 'understood'),
  written('"root_password"', '"\\u00fc\\u20ac"', 'ü€', 'understood'),
  written('"root_password"', '"x\\ud800"', 'x\ud800', 'told'),
  written('"root_password"', '{"value":"secret-1"}', 'secret-1', 'told'),
  written('"password":"secret-1","adminPassword"', '"secret-2"', 'secret-2', 'told'),
  row('create', '{"id":7,"state":"creating"}', UNKNOWN, 'told'),
  ...['9007199254740993', '"123456789012345678901"', 'null', '"x7"'].map((id) =>
    row('create', `{"id":${id},"root_password":"secret-1"}`, { ...MADE, password: 'secret-1' }, 'told'),
  ),
  ...[302, 409, 500].flatMap((status) =>
    ['odd', 'limit', 'not_created'].map((code) =>
      row('create', { id: ID, root_password: 'secret-1', code }, { ...MADE, password: 'secret-1' }, 'told', {
        status,
      }),
    ),
  ),
  // A label that is a part of other words hides none of them.
  ...['p', 'a', 'root_password', '(*'].flatMap((label) => [
    row('create', { root_password: 'secret-1', code: 'odd' }, { ...MADE, password: 'secret-1' }, 'told', {
      label,
      status: 500,
    }),
    row('create', { ...PROOFS.create.body, note: 'rate_limited' }, MADE, 'told', { label }),
  ]),
  row(
    'create',
    '{"root_password":"secret-1","root_password":"secret-2"}',
    { ...MADE, password: 'secret-2' },
    'told',
  ),
  row('create', '{"root_password":"secret-1"', { ...MADE, password: 'secret-1' }, 'told'),
];

/** An order whose parts are words that would take a proof away, repeated in its answer. */
const ECHOED: Row[] = API_CODES.map((label) => {
  const body = { ...PROOFS.create.body, label, name: label, order: { hostname: label } };
  return row('create', body, MADE, 'understood', { label });
});

const DATES: Row[] = [
  row('renew', '{"paid_until":"2026-12-01T00:00:00Z"}', UNKNOWN, 'told'),
  ...['null', '""', '"soon"', '"1970-01-01T00:00:00Z"', '"2026-02-30T00:00:00Z"', '1796083200', '{}'].map(
    (date) => row('renew', `{"id":7,"paid_until":${date}}`, RENEWED, 'told'),
  ),
  ...['"2026-12-01T02:00:00+02:00"', '"2026-12-01"'].map((date) =>
    row('renew', `{"id":7,"paid_until":${date}}`, RENEWED, 'understood'),
  ),
];

/** Rule 2: which states prove what. The state in the answer is the server's, unless it is another one. */
const STATES: Row[] = [...POWER, 'delete' as const].flatMap((call) => [
  ...['running', 'stopped', 'deleting', 'DELETED', 'deleted', 'Running', ' running ', 'gone', 'off'].map(
    (state) => {
      const said = state.trim().toLowerCase();
      const isProof =
        call === 'delete'
          ? said === 'deleted'
          : call === 'reboot' || (said === 'running') === (call === 'start');
      const kind = said === 'deleted' && call !== 'delete' ? 'told' : isProof ? 'understood' : leftOpen(call);
      return row(call, { id: ID, state }, stateIs(said), kind);
    },
  ),
  ...['', ' ', null, [], true].map((state) => row(call, { id: ID, state }, UNKNOWN, leftOpen(call))),
]);

export const RECORDS: readonly Row[] = [
  ...PROVEN,
  ...TAKEN_AWAY,
  ...SAID,
  ...CONTRADICTORY,
  ...OPEN,
  ...PASSWORDS,
  ...ECHOED,
  ...DATES,
  ...STATES,
];
