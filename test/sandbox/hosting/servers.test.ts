import { describe, expect, test } from 'vitest';
import { idOf, ORDER, startCaller } from './caller.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('a server expires when its month is over, can still be renewed, and is removed a week later', async () => {
  const { call, create, hosting, account } = await startCaller({ createDelayMs: 4000 });
  const id = idOf(await create());
  const act = (verb: string) => call('POST', `/servers/${id}/${verb}`);
  const stateOf = () => hosting.listServers(account)[0]?.state;
  hosting.clock.advanceMonth();
  expect(stateOf()).toBe('expired');
  expect((await act('stop')).body).toEqual({ code: 'wrong_state' });
  expect((await act('renew')).status).toBe(200);
  expect(stateOf()).toBe('running');
  hosting.clock.advanceMonth();
  hosting.clock.advance(7 * DAY_MS - 1);
  expect(hosting.listServers(account)).toMatchObject([{ id, state: 'expired' }]);
  hosting.clock.advance(1);
  expect(hosting.listServers(account)).toEqual([]);
  expect((await act('renew')).body).toEqual({ code: 'not_found' });
});

test("whoever calls gets not_found for another account's server, and doesn't see it", async () => {
  const { call, create, hosting } = await startCaller();
  const id = idOf(await create());
  const stranger = hosting.accounts.create({ name: 'Stranger', balanceMinor: 1000 });
  const header = `Bearer ${hosting.createKey(stranger)}`;
  for (const path of [`/servers/${id}/start`, `/servers/${id}/stop`, `/servers/${id}/renew`])
    expect((await call('POST', path, undefined, header)).body).toEqual({ code: 'not_found' });
  expect((await call('DELETE', `/servers/${id}`, undefined, header)).body).toEqual({ code: 'not_found' });
  expect((await call('GET', '/servers', undefined, header)).body).toEqual([]);
});

describe('what may be asked', () => {
  test.each([
    ['no JSON', '{"plan":'],
    ['no plan', { ...ORDER, plan: undefined }],
    ['an unknown plan', { ...ORDER, plan: 'huge' }],
    ['a number for a label', { ...ORDER, label: 7 }],
    ['a label of blanks', { ...ORDER, label: '  ' }],
    ['a label of 256 characters', { ...ORDER, label: 'x'.repeat(256) }],
    ['more than 64 kB', { ...ORDER, label: 'x'.repeat(70_000) }],
  ])('refuses %s as bad_request, at no cost', async (_what, body) => {
    const { call, hosting, account } = await startCaller();
    expect(await call('POST', '/servers', body)).toEqual({ status: 400, body: { code: 'bad_request' } });
    expect(hosting.charges(account)).toEqual([]);
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
