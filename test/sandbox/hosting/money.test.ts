import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalOf } from '../../../src/sandbox/hosting/catalog.ts';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { until } from '../../support/eventually.ts';
import { type Caller, openAccount, startCaller } from './caller.ts';

type Step = (caller: Caller) => Promise<unknown> | unknown;

const HOUR_MS = 60 * 60 * 1000;
const FAULTS: (Pick<FaultRule, 'kind' | 'code' | 'afterMs'> | undefined)[] = [
  undefined,
  undefined,
  { kind: 'lost_before' },
  { kind: 'lost_after' },
  { kind: 'status_500' },
  { kind: 'status_500_after' },
  { kind: 'garbage' },
  { kind: 'html' },
  { kind: 'error', code: 'not_created' },
  { kind: 'error', code: 'limit' },
  { kind: 'checking_completes', afterMs: HOUR_MS },
  { kind: 'checking_refunds', afterMs: HOUR_MS },
];

/** A call to the API, perhaps under a fault, to one of the servers that exist. */
const callStep = fc
  .record({
    verb: fc.constantFrom('create', 'create', 'create', 'renew', 'renew', 'stop', 'delete'),
    plan: fc.constantFrom('micro', 'small', 'memory', 'none'),
    which: fc.nat(5),
    fault: fc.constantFrom(...FAULTS),
  })
  .map(
    ({ verb, plan, which, fault }): Step =>
      async ({ hosting, account, call, create }) => {
        hosting.faults.clear();
        if (fault) hosting.faults.add({ on: 'any', ...fault });
        const id = hosting.listServers(account)[which]?.id ?? 1;
        const path = verb === 'delete' ? `/servers/${id}` : `/servers/${id}/${verb}`;
        const sent = verb === 'create' ? create({ plan }) : call(verb === 'delete' ? 'DELETE' : 'POST', path);
        await sent.catch(() => undefined);
      },
  );

const topUpStep = fc.integer({ min: 1, max: 20_000 }).map(
  (amountMinor): Step =>
    ({ hosting, account }) =>
      hosting.accounts.topUp(account, amountMinor),
);
const priceStep = fc.integer({ min: 0, max: 9_999 }).map(
  (minor): Step =>
    ({ hosting }) =>
      hosting.setPrice('small', decimalOf(minor)),
);
const timeStep = fc.constantFrom(1000, HOUR_MS, 24 * HOUR_MS, 20 * 24 * HOUR_MS).map(
  (ms): Step =>
    ({ hosting }) =>
      hosting.clock.advance(ms),
);
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: callStep },
    { weight: 1, arbitrary: topUpStep },
    { weight: 1, arbitrary: priceStep },
    { weight: 2, arbitrary: timeStep },
  ),
  { minLength: 1, maxLength: 30 },
);

const sumOf = (entries: readonly { amountMinor: number }[]) =>
  entries.reduce((sum, entry) => sum + entry.amountMinor, 0);

const topUpsOf = ({ hosting, account }: Pick<Caller, 'hosting' | 'account'>) =>
  hosting.journal.money({ kind: 'top_up', accountId: account.id });

/** What holds at every moment. */
function expectBalanced({ hosting, account }: Caller): void {
  const booked =
    sumOf(topUpsOf({ hosting, account })) - sumOf(hosting.charges(account)) + sumOf(hosting.refunds(account));
  expect(hosting.balanceOf(account)).toBe(booked);
  expect(booked).toBeGreaterThanOrEqual(0);
}

test('the balance is, whatever is asked and whatever breaks, what was paid in, less charges, plus refunds, and never below zero', async () => {
  const { hosting } = await startCaller({ requestsPerMinute: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      // One service, a fresh account each time: starting a service per run would be most of the test.
      const fresh = openAccount(hosting);
      for (const step of sequence) {
        await step(fresh);
        expectBalanced(fresh);
      }
      hosting.clock.advance(HOUR_MS);
      expectBalanced(fresh);
      expectEveryChargeExplained(fresh);
    }),
    { numRuns: 40 },
  );
});

/** Each request that did paid work was charged once, and nothing else was charged. */
function expectEveryChargeExplained({ hosting, account }: Caller): void {
  const own = hosting.requests({ accountId: account.id });
  const paid = own.filter(({ operation, didWork }) => didWork && /^(create|renew)$/.test(operation ?? ''));
  const givenBack = own.filter(({ operation, code }) => operation === 'create' && code === 'not_created');
  const refunded = own.filter(({ fault, didWork }) => fault === 'checking_refunds' && didWork);
  expect(hosting.charges(account)).toHaveLength(paid.length + givenBack.length);
  const refundable = refunded.filter(({ operation }) => operation === 'create');
  expect(hosting.refunds(account)).toHaveLength(givenBack.length + refundable.length);
}

async function statusesOf(call: () => Promise<{ status: number }>, count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n += 1) statuses.push((await call()).status);
  return statuses;
}

describe('the limit of requests in a minute', () => {
  test('accepts exactly 300, refuses the next, and accepts again a minute after the first', async () => {
    const { call, hosting } = await startCaller();
    const ask = () => call('GET', '/servers');
    const statuses = await Promise.all(Array.from({ length: 300 }, ask));
    expect(new Set(statuses.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(await ask()).toEqual({ status: 429, body: { code: 'rate_limited' } });
    hosting.clock.advance(59_999);
    expect((await ask()).status).toBe(429);
    hosting.clock.advance(1);
    expect((await ask()).status).toBe(200);
  });

  test('does no work for a refused request, and does not count it', async () => {
    const { call, create, hosting, account } = await startCaller({ requestsPerMinute: 2 });
    await call('GET', '/catalog');
    hosting.clock.advance(30_000);
    expect((await create()).status).toBe(200);
    expect(await statusesOf(create, 5)).toEqual([429, 429, 429, 429, 429]);
    hosting.clock.advance(30_000);
    expect(await statusesOf(create, 2)).toEqual([200, 429]);
    expect(hosting.charges(account)).toHaveLength(2);
  });
});

test('the journal counts an order that broke off half-sent as cut, and carries nothing out', async () => {
  const { hosting, key, account } = await startCaller();
  const socket = connect(hosting.port, '127.0.0.1');
  socket.write(
    `POST /v1/servers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{"plan"`,
  );
  await until(() => hosting.requests().length > 0);
  socket.destroy();
  await until(() => hosting.requests({ ending: 'cut' }).length > 0);
  expect(hosting.requests()).toMatchObject([{ operation: 'create', didWork: false }]);
  expect(hosting.charges(account)).toEqual([]);
});
