import { describe, expect, test } from 'vitest';
import { ERROR_SHAPES, errorBody } from '../../../src/sandbox/hosting/answers.ts';
import { ERROR_CODES } from '../../../src/sandbox/hosting/protocol.ts';
import { idOf, ORDER, startCaller } from './caller.ts';

describe('who may call', () => {
  test.each([
    '',
    'Bearer',
    'Bearer nonsense',
    'Basic abc',
  ])('refuses "%s" as unauthorized', async (header) => {
    const { call } = await startCaller();
    expect(await call('GET', '/servers', undefined, header)).toEqual({
      status: 401,
      body: { code: 'unauthorized' },
    });
  });

  test('refuses a key that was revoked, and keeps the others', async () => {
    const { call, hosting, account, key } = await startCaller();
    const other = hosting.createKey(account);
    hosting.accounts.revokeKey(account, key);
    expect((await call('GET', '/catalog')).body).toEqual({ code: 'unauthorized' });
    expect((await call('GET', '/catalog', undefined, `Bearer ${other}`)).status).toBe(200);
  });

  test('stays closed until the first top-up, then opens', async () => {
    const { call, hosting } = await startCaller();
    const closed = hosting.accounts.create({ name: 'New' });
    expect(() => hosting.createKey(closed)).toThrow('not_allowed');
    const header = `Bearer ${hosting.createKey(closed, { beforeTopUp: true })}`;
    expect(await call('GET', '/catalog', undefined, header)).toEqual({
      status: 403,
      body: { code: 'not_allowed' },
    });
    hosting.accounts.topUp(closed, 1);
    expect((await call('GET', '/catalog', undefined, header)).status).toBe(200);
  });

  test("answers not_found for another account's server", async () => {
    const { call, create, hosting } = await startCaller();
    const id = idOf(await create());
    const stranger = hosting.accounts.create({ name: 'Stranger', balanceMinor: 1000 });
    const header = `Bearer ${hosting.createKey(stranger)}`;
    for (const path of [`/servers/${id}/start`, `/servers/${id}/stop`, `/servers/${id}/renew`])
      expect((await call('POST', path, undefined, header)).body).toEqual({ code: 'not_found' });
    expect((await call('DELETE', `/servers/${id}`, undefined, header)).body).toEqual({ code: 'not_found' });
    expect((await call('GET', '/servers', undefined, header)).body).toEqual([]);
  });
});

describe('what may be asked', () => {
  test.each([
    ['no JSON', '{"plan":'],
    ['a list', []],
    ['null', 'null'],
    ['no plan', { ...ORDER, plan: undefined }],
    ['an unknown plan', { ...ORDER, plan: 'huge' }],
    ['an unknown location', { ...ORDER, location: 'mars' }],
    ['an unknown image', { ...ORDER, image: 'dos' }],
    ['a number for a label', { ...ORDER, label: 7 }],
    ['an empty label', { ...ORDER, label: '' }],
    ['a label of blanks', { ...ORDER, label: '  ' }],
    ['a label of 256 characters', { ...ORDER, label: 'x'.repeat(256) }],
    ['more than 64 kB', { ...ORDER, label: 'x'.repeat(70_000) }],
  ])('refuses %s as bad_request, at no cost', async (_what, body) => {
    const { call, hosting, account } = await startCaller();
    expect(await call('POST', '/servers', body)).toEqual({ status: 400, body: { code: 'bad_request' } });
    expect(hosting.charges(account)).toEqual([]);
  });

  test('takes a label of 255 characters, and the same label twice', async () => {
    const { create } = await startCaller();
    const label = 'ü'.repeat(255);
    expect((await create({ label })).status).toBe(200);
    expect((await create({ label })).status).toBe(200);
  });

  test('survives a body of megabytes and answers the next request', async () => {
    const { call } = await startCaller();
    expect((await call('POST', '/servers', 'x'.repeat(3_000_000))).status).toBe(400);
    expect((await call('GET', '/servers')).status).toBe(200);
  });

  test.each([
    ['GET', '/nothing'],
    ['GET', '/servers/'],
    ['PUT', '/servers'],
    ['GET', '/servers/1/start'],
    ['POST', '/servers/1/explode'],
    ['POST', '/servers/abc/start'],
    ['POST', '/servers/1.5/stop'],
    ['DELETE', '/servers/99999999999999999999'],
  ])('answers not_found to %s %s', async (method, path) => {
    const { call } = await startCaller();
    expect(await call(method, path)).toEqual({ status: 404, body: { code: 'not_found' } });
  });

  test('answers not_found outside the version', async () => {
    const { hosting } = await startCaller();
    const response = await fetch(`http://127.0.0.1:${hosting.port}/v2/catalog`);
    expect([response.status, await response.json()]).toEqual([404, { code: 'not_found' }]);
  });

  test('refuses an order that the balance does not cover, and takes nothing', async () => {
    const { create, hosting, account } = await startCaller();
    hosting.setPrice('small', '100.01');
    expect(await create()).toEqual({ status: 402, body: { code: 'not_enough_balance' } });
    expect(hosting.balanceOf(account)).toBe(100_00);
    hosting.setPrice('small', '100.00');
    expect((await create()).status).toBe(200);
    expect(hosting.balanceOf(account)).toBe(0);
  });

  test('refuses one server too many, counting those the supplier has not confirmed', async () => {
    const { create, hosting, account } = await startCaller({ maxServers: 2 });
    hosting.faults.add({ on: 'create', kind: 'checking_completes' });
    await create();
    expect((await create()).status).toBe(200);
    expect(await create()).toEqual({ status: 409, body: { code: 'limit' } });
    expect(hosting.charges(account)).toHaveLength(2);
  });
});

describe('how an error looks', () => {
  test.each(ERROR_CODES)('can be told to refuse with %s', async (code) => {
    const { call, hosting } = await startCaller();
    hosting.faults.add({ on: 'servers', kind: 'error', code });
    const answer = await call('GET', '/servers');
    expect(answer.body).toEqual({ code });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect((await call('GET', '/servers')).status).toBe(200);
  });

  test.each(ERROR_SHAPES)('carries the code as %s when told to', async (errorShape) => {
    const { call } = await startCaller({ answers: { errorShape, errorStatus: { not_found: 410 } } });
    expect(await call('POST', '/servers/1/start')).toEqual({
      status: 410,
      body: errorBody(errorShape, 'not_found'),
    });
    expect(JSON.stringify(errorBody(errorShape, 'not_found'))).toContain('"not_found"');
  });

  test('answers a success with another 2xx when configured to, also while it runs', async () => {
    const { create, call, hosting } = await startCaller({ answers: { successStatus: { create: 201 } } });
    expect((await create()).status).toBe(201);
    hosting.setAnswers({ successStatus: { servers: 202 }, errorShape: 'string' });
    expect((await call('GET', '/servers')).status).toBe(202);
    expect((await create()).status).toBe(201);
    expect((await call('POST', '/servers/1/stop')).body).toBe('not_found');
  });

  test('never tells an error inside 2xx, nor a success outside', async () => {
    const { hosting } = await startCaller();
    expect(() => hosting.setAnswers({ errorStatus: { limit: 200 } })).toThrow(RangeError);
    expect(() => hosting.setAnswers({ successStatus: { create: 302 } })).toThrow(RangeError);
  });
});
