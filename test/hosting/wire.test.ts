import { MockAgent } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { API_CODES } from '../../src/core/errors.ts';
import type { Endpoint } from '../../src/hosting/endpoints.ts';
import * as endpoints from '../../src/hosting/endpoints.ts';
import { decode } from '../../src/hosting/read-catalog.ts';
import { createTransport } from '../../src/hosting/send.ts';
import { realSystem } from '../../src/system.ts';
import { failureOf, KEY, ORDER } from './support.ts';

const BASE_URL = 'https://hosting.test/v1';

/** Asks one endpoint of a service that always answers this; `body` is JSON unless it is text. */
async function ask<Answer>(
  endpoint: Endpoint<Answer>,
  status: number,
  body: unknown,
  onUnreadable: (count: number) => void = () => {},
): Promise<Answer> {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(() => agent.close());
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { method, path } = endpoint;
  agent
    .get('https://hosting.test')
    .intercept({ method, path: `/v1${path}` })
    .reply(status, text);
  const options = { baseUrl: BASE_URL, timeoutMs: 30_000, system: realSystem, dispatcher: agent };
  const answer = await createTransport(options).send(endpoint, KEY);
  agent.assertNoPendingInterceptors();
  return decode(endpoint, answer, onUnreadable);
}

const create = (status: number, body: unknown) => ask(endpoints.createServer(ORDER), status, body);
const renew = (status: number, body: unknown) => ask(endpoints.renewServer(7), status, body);
const stop = (status: number, body: unknown) => ask(endpoints.changePower('stop', 7), status, body);
const list = async (status: number, body: unknown, onUnreadable?: (count: number) => void) =>
  (await ask(endpoints.listPage('/servers'), status, body, onUnreadable)).servers;
const catalog = (status: number, body: unknown, onUnreadable?: (count: number) => void) =>
  ask(endpoints.fetchCatalog, status, body, onUnreadable);

const SERVER = {
  id: 7,
  label: 'web-1',
  state: 'running',
  ipv4: '192.0.2.7',
  paid_until: '2026-12-01T00:00:00Z',
};
const READ = { id: 7, label: 'web-1', state: 'running', ipv4: '192.0.2.7', paidUntil: Date.UTC(2026, 11, 1) };

describe('the list of servers', () => {
  it.each([
    ['as documented', [SERVER]],
    ['inside an object', { servers: [SERVER] }],
    ['with more fields than documented', [{ ...SERVER, plan: 's1', tags: [] }]],
    ['with an id in quotes', [{ ...SERVER, id: '7' }]],
  ])('is read %s', async (_, body) => {
    expect(await list(200, body)).toEqual([READ]);
  });

  it.each([
    [{ ipv4: null }, { ipv4: undefined }],
    [{ ipv4: '' }, { ipv4: undefined }],
    [{ ipv4: undefined }, { ipv4: undefined }],
    [{ state: 'hibernating' }, { state: 'hibernating' }],
    [{ state: undefined }, { state: '' }],
    [{ label: null }, { label: '' }],
    [{ label: 42 }, { label: '42' }],
    [{ paid_until: null }, { paidUntil: undefined }],
    [{ paid_until: 'tomorrow' }, { paidUntil: undefined }],
    [{ paid_until: '2026-13-45T00:00:00Z' }, { paidUntil: undefined }],
    [{ paid_until: '2026-12-01T02:00:00+02:00' }, {}],
    [{ paid_until: '2026-12-01T00:00:00.000000Z' }, {}],
    [{ paid_until: '2026-12-01T00:00:00' }, {}],
    [{ paid_until: '2026-12-01 00:00' }, {}],
    [{ paid_until: '2026-12-01' }, {}],
  ])('tolerates %o', async (odd, expected) => {
    const [server] = await list(200, [{ ...SERVER, ...odd }]);
    expect(server).toEqual({ ...READ, ...expected });
    expect(Object.values(server ?? {})).not.toContain(undefined);
  });

  it('keeps the other servers, and counts the unreadable one, when one can’t be read', async () => {
    const leftOut = vi.fn();
    const odd = [{ label: 'no id' }, null, 'server', { ...SERVER, id: 7.5 }, { ...SERVER, id: -1 }];
    expect(await list(200, [...odd, SERVER], leftOut)).toEqual([READ]);
    expect(leftOut).toHaveBeenCalledWith(5);
  });

  it('is empty only when the service says so', async () => {
    expect(await list(200, [])).toEqual([]);
    expect(await failureOf(list(200, [{ label: 'no id' }]))).toMatchObject({ code: 'unreadable_answer' });
  });

  it.each([
    '',
    'null',
    '{}',
    '"text"',
    '<html>',
    '[',
    '{"error":"unauthorized"}',
  ])('can’t be read from %j', async (body) => {
    expect(await failureOf(list(200, body))).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'no' });
  });
});

describe('the catalog', () => {
  const plan = { code: 's1', vcpu: 1, ram_mb: 1024, disk_gb: 20, monthly: '4.99' };
  const read = { code: 's1', vcpu: 1, ramMb: 1024, diskGb: 20, monthly: 499 };

  it('is read, including quoted numbers and unquoted prices', async () => {
    const plans = [plan, plan, { ...plan, code: 's2', vcpu: '1', ram_mb: '1024', monthly: 4.99 }];
    const body = { plans, locations: ['fra', '', 5], images: ['debian-12'], currency: 'EUR' };
    expect(await catalog(200, body)).toEqual({
      plans: [
        { ...read, currency: 'EUR' },
        { ...read, code: 's2', currency: 'EUR' },
      ],
      locations: ['fra'],
      images: ['debian-12'],
      unreadable: { plans: 0, locations: 2, images: 0 },
    });
  });

  it('leaves out plans that can’t be confirmed', async () => {
    const leftOut = vi.fn();
    const odd = ['4.999', '-1', 'free', '', null, '1e3'].map((monthly) => ({ ...plan, monthly }));
    const body = { plans: [...odd, { ...plan, code: '' }, plan], locations: [], images: [] };
    expect((await catalog(200, body, leftOut)).plans).toEqual([read]);
    expect(leftOut).toHaveBeenCalledWith(7);
  });

  it.each([{}, [], { plans: [plan], locations: ['fra'] }])('can’t be read from %j', async (body) => {
    expect(await failureOf(catalog(200, body))).toMatchObject({ code: 'unreadable_answer' });
  });
});

describe('a created server', () => {
  it.each([200, 201, 202, 299])('is read with any 2xx status: %d', async (status) => {
    const created = await create(status, { id: 7, state: 'creating', root_password: 'pa55word' });
    expect(created).toMatchObject({ id: 7, state: 'creating' });
    expect(created.rootPassword?.reveal()).toBe('pa55word');
    expect(JSON.stringify(created)).not.toContain('pa55word');
  });

  it.each([
    '',
    '{}',
    '[]',
    'created',
    '{"state":"creating","root_password":"pa55word"}',
    '{"id":7,"state":"creating"}',
    '{"id":7,"state":"creating","root_password":""}',
    '{"id":7,"state":"creating","password":"pa55word"}',
    '{"error":"not_enough_balance"}',
  ])('is unconfirmed, and nothing of the answer leaks, when the answer is %j', async (body) => {
    const failure = await failureOf(create(201, body));
    expect(failure).toMatchObject({
      code: 'unreadable_answer',
      moneyMoved: 'maybe',
      details: { status: 201 },
    });
    expect(JSON.stringify(failure) + failure.stack).not.toContain('pa55word');
  });
});

describe('a renewal', () => {
  it('is read with its new date', async () => {
    expect(await renew(200, { id: 7, paid_until: '2026-12-01T00:00:00Z' })).toEqual({
      id: 7,
      paidUntil: READ.paidUntil,
    });
  });

  it.each(['', '{}', '{"id":7}', '{"id":8}'])('is unconfirmed when the answer is %j', async (body) => {
    expect(await failureOf(renew(200, body))).toMatchObject({
      code: 'unreadable_answer',
      moneyMoved: 'maybe',
    });
  });
});

describe('a power action', () => {
  it('is done when the service says so', async () => {
    expect(await stop(200, { id: 7, state: 'stopped' })).toEqual({ state: 'stopped' });
  });

  it('is accepted when the service says nothing, or says something that proves nothing', async () => {
    expect(await stop(204, '')).toEqual({});
    expect(await stop(200, {})).toEqual({});
    expect(await stop(200, { message: 'Server stopped' })).toEqual({ words: 'Server stopped' });
  });

  it.each([
    '{"id":8,"state":"stopped"}',
    '{"error":"wrong_state"}',
    '{"status":"rejected"}',
    'OK',
  ])('is unconfirmed when the answer is %j', async (body) => {
    expect(await failureOf(stop(200, body))).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'no' });
  });
});

const PLACES: [string, (code: string) => unknown][] = [
  ['code', (code) => ({ code })],
  ['error', (error) => ({ error, message: 'in words' })],
  ['error.code', (code) => ({ error: { code, message: 'in words' } })],
  ['error.reason', (reason) => ({ error: { reason } })],
  ['error_code', (error_code) => ({ error_code, error: 'in words' })],
  ['errors[0].code', (code) => ({ errors: [{ code }] })],
  ['errors[0].reason', (reason) => ({ errors: [{ reason }] })],
  ['errors[0]', (code) => ({ errors: [code] })],
  ['reason', (reason) => ({ status: 400, reason })],
  ['a bare string', (code) => JSON.stringify(code)],
  ['upper case', (code) => ({ code: code.toUpperCase() })],
  ['dashes', (code) => ({ code: code.replaceAll('_', '-') })],
  ['beside a numeric code', (error) => ({ code: 400, error })],
];

describe('an error code of the document', () => {
  const cases = API_CODES.flatMap((code) =>
    PLACES.map(([place, write]) => ({ code, place, body: write(code) })),
  );

  it.each(cases)('$code is found in $place, whatever the status', async ({ code, body }) => {
    for (const status of [400, 404, 409, 500, 302]) {
      const isOpen = code === 'checking';
      expect(await failureOf(create(status, body))).toMatchObject({
        code,
        moneyMoved: isOpen ? 'maybe' : 'no',
        details: { operation: 'create_server', status },
      });
      expect(await failureOf(stop(status, body))).toMatchObject({ code, moneyMoved: 'no' });
    }
  });
});

describe('an error without a code of the document', () => {
  const NOTHING_READABLE = [
    '',
    '{}',
    '<html>502 Bad Gateway</html>',
    '{"message":"no such server"}',
    '{"error":"Not Found"}',
  ];

  for (const status of [302, 400, 401, 403, 404, 422, 500, 502, 503]) {
    it(`proves nothing, with status ${status}`, async () => {
      for (const body of NOTHING_READABLE) {
        const expected = { code: 'unreadable_answer', details: { status } };
        expect(await failureOf(create(status, body))).toMatchObject({ ...expected, moneyMoved: 'maybe' });
        expect(await failureOf(renew(status, body))).toMatchObject({ ...expected, moneyMoved: 'maybe' });
        expect(await failureOf(list(status, body))).toMatchObject({ ...expected, moneyMoved: 'no' });
      }
    });
  }

  it('with status 429 is rate_limited for a free call, and proves nothing for a paid one', async () => {
    for (const body of NOTHING_READABLE) {
      expect(await failureOf(create(429, body))).toMatchObject({
        code: 'unreadable_answer',
        moneyMoved: 'maybe',
      });
      expect(await failureOf(stop(429, body))).toMatchObject({ code: 'rate_limited', moneyMoved: 'no' });
    }
    expect(await failureOf(create(429, { code: 'rate_limited' }))).toMatchObject({ moneyMoved: 'no' });
  });

  it('with an unknown code proves nothing, and the code is kept for the log', async () => {
    const expected = { code: 'unknown_code', details: { status: 409, unknownCode: 'quota_exceeded' } };
    const body = { error: { code: 'quota_exceeded' } };
    expect(await failureOf(create(409, body))).toMatchObject({ ...expected, moneyMoved: 'maybe' });
    expect(await failureOf(list(409, body))).toMatchObject({ ...expected, moneyMoved: 'no' });
  });

  it.each([
    'pa55word',
    'Hunter',
    'a b',
    'x'.repeat(41),
    'hunter.two',
  ])('never keeps what may be a secret: %s', async (token) => {
    const failure = await failureOf(create(409, { error: token, code: token }));
    expect(failure.code).toBe('unreadable_answer');
    expect(JSON.stringify(failure) + failure.stack).not.toContain(token);
  });
});
