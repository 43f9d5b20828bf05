import { describe, expect, test } from 'vitest';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { until } from '../../support/eventually.ts';
import { type Caller, ORDER, startCaller } from './caller.ts';

async function startWith(rule: FaultRule): Promise<Caller> {
  const caller = await startCaller();
  caller.hosting.faults.add(rule);
  return caller;
}

/** What a create did to the account, whatever its caller was told. */
const madeBy = ({ hosting, account }: Caller) => ({
  servers: hosting.listServers(account).length,
  charges: hosting.charges(account).length,
});

/** Long enough to be seen before the answer. */
const SLOW_MS = 300;
const NOTHING = { servers: 0, charges: 0 };
const ONE = { servers: 1, charges: 1 };

test.each([
  { kind: 'lost_before', ending: 'cut', made: NOTHING },
  { kind: 'lost_after', ending: 'cut', made: ONE },
  { kind: 'hang_before', ending: 'hanging', made: NOTHING },
  { kind: 'hang', ending: 'hanging', made: ONE },
] as const)('no answer at all is what a caller gets of $kind, and the journal says whether the work was done', async (fault) => {
  const { kind, ending, made } = fault;
  const caller = await startWith({ on: 'create', kind });
  const patience = new AbortController();
  const answer = fetch(`${caller.hosting.baseUrl}/servers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: JSON.stringify(ORDER),
    signal: patience.signal,
  });
  await Promise.all([
    expect(answer).rejects.toThrow(),
    until(() => caller.hosting.requests({ ending }).length > 0).then(() => patience.abort()),
  ]);
  expect(madeBy(caller)).toEqual(made);
  const didWork = made === ONE;
  expect(caller.hosting.requests()).toMatchObject([{ ending, didWork, status: undefined, fault: kind }]);
});

test('a slow answer is a true one, after work done at once', async () => {
  const caller = await startWith({ on: 'create', kind: 'slow', delayMs: SLOW_MS });
  const startedMs = performance.now();
  const answer = caller.create();
  await until(() => caller.hosting.requests({ didWork: true }).length > 0, 2);
  expect(madeBy(caller)).toEqual(ONE);
  expect(caller.hosting.requests()).toMatchObject([{ ending: 'pending' }]);
  expect((await answer).status).toBe(200);
  expect(performance.now() - startedMs).toBeGreaterThan(SLOW_MS - 2);
});

test.each([
  { rule: { on: 'create', kind: 'status_500' }, status: 500, text: 'Internal', made: NOTHING },
  { rule: { on: 'create', kind: 'status_500_after' }, status: 500, text: 'Internal', made: ONE },
  { rule: { on: 'create', kind: 'html' }, status: 502, text: '<html>', made: NOTHING },
  { rule: { on: 'create', kind: 'html', status: 200 }, status: 200, text: '<html>', made: NOTHING },
  { rule: { on: 'create', kind: 'garbage' }, status: 200, text: '{"id"', made: ONE },
] as const)('$rule.kind answers $status without a readable word', async ({ rule, status, text, made }) => {
  const caller = await startWith(rule);
  const answer = await caller.create();
  expect(answer).toEqual({ status, body: expect.stringContaining(text) });
  expect(madeBy(caller)).toEqual(made);
});

describe('a supplier that does not deliver', () => {
  test('not_created charges and gives back at once', async () => {
    const caller = await startWith({ on: 'create', kind: 'error', code: 'not_created' });
    const { hosting, account } = caller;
    expect((await caller.create()).body).toEqual({ code: 'not_created' });
    expect(madeBy(caller)).toEqual({ servers: 0, charges: 1 });
    expect(hosting.refunds(account)).toMatchObject([{ amountMinor: 590 }]);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });

  test('checking that completes: charged now, the server appears later', async () => {
    const caller = await startWith({ on: 'create', kind: 'checking_completes', afterMs: 5000 });
    const { hosting, account } = caller;
    expect((await caller.create()).body).toEqual({ code: 'checking' });
    expect(madeBy(caller)).toEqual({ servers: 0, charges: 1 });
    hosting.clock.advance(4999);
    expect(hosting.listServers(account)).toEqual([]);
    hosting.clock.advance(1);
    expect(hosting.listServers(account)).toMatchObject([{ label: 'web-1', state: 'creating' }]);
    hosting.clock.advance(4000);
    expect(hosting.listServers(account)).toMatchObject([{ label: 'web-1', state: 'running' }]);
    expect(hosting.balanceOf(account)).toBe(100_00 - 590);
  });

  test.each([
    { on: 'create', kind: 'checking_refunds', afterMs: 60_000 },
    { on: 'any', kind: 'error', code: 'checking' },
  ] as const)('checking that fails ($kind): the money is back later, at the price paid', async (rule) => {
    const caller = await startWith(rule);
    const { hosting, account } = caller;
    expect((await caller.create()).body).toEqual({ code: 'checking' });
    hosting.setPrice('small', '50.00');
    hosting.clock.advance(59_999);
    expect(hosting.balanceOf(account)).toBe(100_00 - 590);
    hosting.clock.advance(1);
    expect(hosting.balanceOf(account)).toBe(100_00);
    expect(madeBy(caller)).toEqual({ servers: 0, charges: 1 });
  });

  test('still refuses what was wrong anyway, at no cost', async () => {
    const caller = await startWith({ on: 'create', kind: 'checking_completes', times: 'always' });
    expect((await caller.create({ plan: 'none' })).body).toEqual({ code: 'bad_request' });
    expect(madeBy(caller)).toEqual(NOTHING);
  });
});

describe('when a fault strikes', () => {
  test('on whatever costs money, and on nothing else', async () => {
    const { call, create, hosting, account } = await startCaller();
    const [id] = hosting.seedServers(account, 1);
    hosting.faults.add({ on: 'paid', kind: 'error', code: 'not_enough_balance', times: 'always' });
    expect((await call('GET', '/servers')).status).toBe(200);
    expect((await call('POST', `/servers/${id}/reboot`)).status).toBe(200);
    expect((await create()).status).toBe(402);
    expect((await call('POST', `/servers/${id}/renew`)).status).toBe(402);
    expect((await call('DELETE', `/servers/${id}`)).status).toBe(200);
  });
});
