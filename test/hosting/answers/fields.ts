import type { Kind, Row, TrueServer } from './row.ts';

const AT = Date.UTC(2026, 11, 1);
const SHOWN =
  '{"id":1,"label":"web-1","state":"running","ipv4":"192.0.2.1","paid_until":"2026-12-01T00:00:00Z"}';
const IS: TrueServer = { id: '1', label: 'web-1', state: 'running', ipv4: '192.0.2.1', paidUntil: AT };

/** A list of one server, with one field written in another way; `is` is what that field is in truth. */
function vary(name: string, written: string, is: Partial<TrueServer>, kind: Kind): Row {
  const body = SHOWN.replace(new RegExp(`"${name}":("[^"]*"|\\d+)`), `"${name}":${written}`);
  return {
    title: `a server with ${name} ${written}`,
    call: 'list',
    body: `[${body}]`,
    truth: { of: 'list', servers: [{ ...IS, ...is }] },
    kind,
  };
}

const IDS: Row[] = [
  ...['1', '"1"', '1.0', '0'].map((id) => vary('id', id, { id: id === '0' ? '0' : '1' }, 'understood')),
  ...['9007199254740991', '"9007199254740991"'].map((id) =>
    vary('id', id, { id: id.replaceAll('"', '') }, 'understood'),
  ),
  ...['9007199254740993', '"9007199254740993"', '123456789012345678901234567890'].map((id) =>
    vary('id', id, { id: id.replaceAll('"', '') }, 'told'),
  ),
  ...['"007"', '" 1"', '1.5', '-1', '1e400', '"abc"', 'null', '[1]'].map((id) =>
    vary('id', id, { id: 'unknown' }, 'told'),
  ),
];

const STATES: Row[] = [
  ...['"running"', '" running "', '"Running"', '"RUNNING\\n"'].map((state) =>
    vary('state', state, {}, 'understood'),
  ),
  ...['""', '"\\t\\n"', 'null', '{"name":"running"}'].map((state) => vary('state', state, {}, 'told')),
  ...['hibernating', 'checking', 'deleted', 'not_found', 'off', 'stopped'].map((state) =>
    vary('state', JSON.stringify(state), { state }, 'understood'),
  ),
];

const DATES: Row[] = [
  ...[
    '2026-12-01T00:00:00Z',
    '2026-12-01T00:00:00.000000z',
    '2026-12-01T14:00:00+14:00',
    '2026-11-30T18:30:00-05:30',
    '2026-12-01 00:00:00Z',
    '2026-12-01T00:00',
    '2026-12-01',
    ' 2026-12-01T00:00:00Z ',
  ].map((date) => vary('paid_until', JSON.stringify(date), {}, 'understood')),
  ...[
    '"0001-01-01T00:00:00Z"',
    '"1970-01-01T00:00:00Z"',
    '"2025-02-29T00:00:00Z"',
    '"2026-12-01T24:00:01Z"',
    '"2026-12-01T00:00:00+25:00"',
    '"2026-12-01T00:00:00 CET"',
    '"2026-1-2"',
    '"1796083200"',
    '1796083200',
    'null',
  ].map((date) => vary('paid_until', date, {}, 'told')),
];

const LABELS: Row[] = [
  ...['größe-€-𝄞', '"quoted"', '‮', 'limit', 'x'.repeat(5_000), ' web-1 ', '7', 'null'].map((label) =>
    vary('label', JSON.stringify(label), { label }, 'understood'),
  ),
  vary('label', '42', { label: '42' }, 'understood'),
  ...['null', '""', '[]', 'true', '{"text":"web-1"}', '12345678901234567890', '1.50'].map((label) =>
    vary('label', label, {}, 'told'),
  ),
];

const ADDRESSES: Row[] = [
  vary('ipv4', '" 192.0.2.1 "', {}, 'understood'),
  ...['null', '" "', '3221225985', '["192.0.2.1"]'].map((ipv4) => vary('ipv4', ipv4, {}, 'told')),
];

export const FIELDS: readonly Row[] = [...IDS, ...STATES, ...DATES, ...LABELS, ...ADDRESSES];
