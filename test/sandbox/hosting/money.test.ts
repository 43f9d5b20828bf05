import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalOf, minorOf } from '../../../src/sandbox/hosting/catalog.ts';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { type Caller, startCaller } from './caller.ts';

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

/** What holds at every moment. */
function expectBalanced({ hosting, account }: Caller): void {
  const booked =
    sumOf(hosting.topUps(account)) - sumOf(hosting.charges(account)) + sumOf(hosting.refunds(account));
  expect(hosting.balanceOf(account)).toBe(booked);
  expect(booked).toBeGreaterThanOrEqual(0);
}

describe('whatever is asked and whatever breaks', () => {
  test('the balance is what was paid in, less charges, plus refunds, and never below zero', async () => {
    const caller = await startCaller({ requestsPerMinute: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        // One service, a fresh account each time: starting a service per run would be most of the test.
        const fresh = freshAccount(caller);
        for (const step of sequence) {
          await step(fresh);
          expectBalanced(fresh);
        }
        fresh.hosting.clock.advance(HOUR_MS);
        expectBalanced(fresh);
        expectEveryChargeExplained(fresh);
      }),
      { numRuns: 40 },
    );
  });
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

function freshAccount(caller: Caller): Caller {
  const { hosting } = caller;
  const account = hosting.accounts.create({ name: 'Example', balanceMinor: 100_00 });
  const key = hosting.createKey(account);
  const call: Caller['call'] = (method, path, body) => caller.call(method, path, body, `Bearer ${key}`);
  const order = { location: 'fra', image: 'debian-13', label: 'web-1' };
  return {
    hosting,
    account,
    key,
    call,
    create: (change) => call('POST', '/servers', { ...order, ...change }),
  };
}

describe('amounts', () => {
  test('are written with two decimals and read back the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (minor) => {
        expect(minorOf(decimalOf(minor))).toBe(minor);
      }),
    );
    expect(decimalOf(-5)).toBe('-0.05');
  });

  test.each(['', '1', '1.5', '1,50', '-1.00', '1.005', ' 1.00', '1e3'])('"%s" is not one', (text) => {
    expect(() => minorOf(text)).toThrow(RangeError);
  });

  test('a top-up is whole and above zero', async () => {
    const { hosting, account } = await startCaller();
    for (const amount of [0, -1, 0.5, Number.NaN])
      expect(() => hosting.accounts.topUp(account, amount)).toThrow(RangeError);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });
});
