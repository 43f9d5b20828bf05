import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { HostingError } from '../../src/core/errors.ts';
import { isDeleted } from '../../src/core/server.ts';
import { NOT_JSON, parseJson } from '../../src/hosting/fields.ts';
import { CATALOGS } from './answers/catalogs.ts';
import { FIELDS } from './answers/fields.ts';
import { LISTS } from './answers/lists.ts';
import { RECORDS } from './answers/records.ts';
import { REFUSALS } from './answers/refusals.ts';
import { classify, type Row, readRow } from './answers/row.ts';
import { failureOf, ORDER, PAY, startClient, startServer, startService } from './support.ts';

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'a list': LISTS,
  'a server in a list': FIELDS,
  'a catalog': CATALOGS,
  'an answer about one server': RECORDS,
  'an error': REFUSALS,
};
const ROWS = Object.values(TABLE).flat();

/** What the client makes of every row, read once. */
const MADE = new Map(await Promise.all(ROWS.map(async (row) => [row, await readRow(row)] as const)));

describe.each(Object.entries(TABLE))('%s', (_, rows) => {
  it('is understood, reported as unreadable or refused, as expected', async () => {
    const wrong: string[] = [];
    for (const row of rows) {
      const made = MADE.get(row);
      const kind = classify(row, made);
      if (kind !== row.kind)
        wrong.push(`${row.title}: ${kind} instead of ${row.kind}: ${describeMade(made)}`);
    }
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(60);
  });
});

it('no answer of the hosting API ends up in what is logged', () => {
  const leaks = [...MADE].filter(([, made]) => {
    const text = JSON.stringify(made) + (made instanceof HostingError ? made.stack : '');
    return /secret-\d|p<&|pa55word/.test(text);
  });
  expect(leaks.map(([{ title }]) => title)).toEqual([]);
});

it.each([
  'pa55word',
  'Hunter',
  'a b',
  'x'.repeat(41),
  'hunter.two',
])('nothing of an error that may be a secret is kept, as a code is: %s', async (token) => {
  const body = { error: token, code: token };
  const row: Row = { title: '', call: 'create', status: 409, body, truth: { of: 'unknown' }, kind: 'told' };
  const failure = await failureOf(readRow(row).then((made) => Promise.reject(made)));
  expect(failure.code).toBe('unreadable_answer');
  expect(JSON.stringify(failure) + failure.stack).not.toContain(token);
});

function describeMade(made: unknown): string {
  return made instanceof HostingError
    ? `${made.code} ${JSON.stringify(made.details)}`
    : JSON.stringify(made).slice(0, 200);
}

const readBody = (call: Row['call'], body: unknown) =>
  readRow({ title: '', call, body, truth: { of: 'unknown' }, kind: 'told' });

it.each([
  [{ ipv4: null }, { ipv4: undefined }],
  [{ state: undefined }, { state: '' }],
  [{ label: null }, { label: '' }],
  [{ label: 42 }, { label: '42' }],
  [{ paid_until: 'tomorrow' }, { paidUntil: undefined }],
  [{ paid_until: '2026-12-01 00:00' }, {}],
])('a server of which one field is odd stays in the list, without that: %o', async (odd, expected) => {
  const [id, label, state, ipv4] = [7, 'web-1', 'running', '192.0.2.7'];
  const list = await readBody('list', [{ id, label, state, ipv4, paid_until: '2026-12-01', ...odd }]);
  const server = { id, label, state, ipv4, paidUntil: Date.UTC(2026, 11, 1), ...expected };
  expect(list).toMatchObject({ servers: [JSON.parse(JSON.stringify(server))], extent: 'whole' });
});

it('a catalog is read with its currency, and says that something in it can’t be read', async () => {
  const plan = { code: 's1', vcpu: '1', ram_mb: 1024, disk_gb: 20, monthly: '4.99' };
  const plans = [plan, { ...plan, code: 's2', monthly: '4.999' }];
  const body = { plans, locations: ['fra', '', 5], images: ['debian-12'], currency: 'EUR' };
  expect(await readBody('catalog', body)).toEqual({
    plans: [{ code: 's1', vcpu: 1, ramMb: 1024, diskGb: 20, monthly: 499, currency: 'EUR' }],
    locations: ['fra'],
    images: ['debian-12'],
    isPart: true,
  });
});

it('a power action that is only accepted has the words of the answer', async () => {
  expect(await readBody('stop', { message: 'Server stopped' })).toEqual({ words: 'Server stopped' });
  expect(await readBody('stop', {})).toEqual({});
});

describe('a list of servers', () => {
  it('ends after a hundred pages, each with a slot of its own, and says that it is incomplete', async () => {
    const { service, account, api } = await startService({ answers: { paging: 'next', pageSize: 1 } });
    service.seedServers(account, 120);
    const { servers, extent } = await api.fetchServers();
    expect([servers.length, extent]).toEqual([100, 'part']);
    expect(service.requests({ operation: 'servers' })).toHaveLength(100);
    expect(api.budget().taken).toBe(100);
  });

  it('shows a deleted server that is still listed as deleted', () => {
    for (const state of ['DELETED', ' deleted\n', 'Deleted']) expect(isDeleted({ state })).toBe(true);
    for (const state of ['deleting', '', 'undeleted']) expect(isDeleted({ state })).toBe(false);
  });
});

it('a refusal is logged with its status, and never with the answer', async () => {
  const server = await startServer((_, response) =>
    response.writeHead(409).end('{"code":"quota_exceeded","message":"the secret is pa55word"}'),
  );
  const warn = vi.fn();
  const { api } = startClient(server.baseUrl, { log: { warn } });
  await failureOf(api.createServer(ORDER, PAY));
  expect(warn.mock.calls).toEqual([
    [
      { operation: 'create_server', status: 409, code: 'unknown_code', unknownCode: 'quota_exceeded' },
      'a call to the hosting API failed',
    ],
  ]);
});

describe('JSON', () => {
  it('is parsed as JavaScript parses it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.string())), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it('is undefined for an empty text, and marked when it is not JSON', () => {
    expect(parseJson(' \n')).toBeUndefined();
    for (const text of ['{', '[1.50', "{'a':1.50}", '01', `${'['.repeat(200)}1.50${']'.repeat(200)}`])
      expect(parseJson(text)).toBe(NOT_JSON);
  });

  it('that names a field twice is ambiguous and not read', () => {
    for (const text of ['{"a":{"id":7, "b":"{\\"", "id":7}}', '[{"a":1,"a" :2}]', '{"id":7,"\\u0069d":8}'])
      expect(parseJson(text)).toBe(NOT_JSON);
    for (const text of ['{"a":{"id":7},"id":7}', '[{"id":7},{"id":7}]', '{"id":"id","b":"\\"id\\":"}'])
      expect(parseJson(text)).toEqual(JSON.parse(text));
  });
});
