import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Catalog, findPlan } from '../../src/core/catalog.ts';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import { describeMoney, findMoney, money } from '../../src/core/money.ts';
import { findExcess } from '../../src/purchases/costs.ts';
import { claimOf, refusalOf, unconfirmedReasonOf } from '../../src/purchases/operation.ts';
import { HOSTING_CODES, REFUSAL_CODES, sampleDetails } from '../../src/sandbox/gallery/fixtures/reasons.ts';

const amounts = fc.integer({ min: 0, max: 99_999_999_999_999 }).map(money);

describe('an amount', () => {
  it('reads as it is written, to the last hundredth', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        expect(findMoney(describeMoney(amount))).toBe(amount);
      }),
    );
  });

  it.each([
    ['4.99', 499],
    ['0.05', 5],
    ['5.9', 590],
    ['999999999999.99', 99_999_999_999_999],
  ])('is read from %j as %i hundredths', (text, hundredths) => {
    expect(findMoney(text)).toBe(hundredths);
  });

  it.each([
    ['4.999', 'more decimals than can be paid'],
    ['1.500', 'a third decimal, with which 1500 may be meant'],
    ['-4.99', 'a sign'],
    ['', 'nothing'],
    ['4.', 'no decimals after the point'],
    ['4,99', 'a comma'],
    ['1e3', 'an exponent'],
    ['٤.٩٩', 'digits of another script'],
    ['1234567890123.00', 'more than can be counted exactly'],
  ])('is never guessed from %j: %s', (text) => {
    expect(findMoney(text)).toBeUndefined();
  });

  it('that is typed is either refused or read exactly', () => {
    const decimals = fc.string({ unit: fc.constantFrom(...'0123456789.,-+ e'), maxLength: 16 });
    fc.assert(
      fc.property(decimals, (text) => {
        const amount = findMoney(text);
        if (amount === undefined) return;
        expect(Number.isSafeInteger(amount)).toBe(true);
        expect(Number(text)).toBeCloseTo(amount / 100, 2);
      }),
    );
  });
});

test.each([
  [0, 101, 100, false],
  [100, 0, 100, true],
  [99, undefined, 100, true],
  [100, undefined, 100, false],
  [0, undefined, 0, false],
])('a budget of which %s is spent allows a price of %s under a limit of %s: %s', (spent, price, most, fits) => {
  const [budget, used] = [
    { since: 0, person: money(most) },
    { workspace: money(0), person: money(spent) },
  ];
  const excess = findExcess(budget, used, price === undefined ? undefined : money(price));
  expect(excess === undefined).toBe(fits);
});

const plan = (code: string, ramMb: number) => ({ code, vcpu: 2, ramMb, diskGb: 40, monthly: money(590) });
const catalog: Catalog = { plans: [plan('small', 2048), plan('SMALL', 512)], locations: [], images: [] };

it('a plan is found by its exact code, since that is what is ordered', () => {
  expect(findPlan(catalog, 'SMALL')?.ramMb).toBe(512);
  expect(findPlan(catalog, 'Small')).toBeUndefined();
});

it('the claim of an operation is the same for the same month of the same server, whatever its label', () => {
  const renewal = (label: string) => ({ kind: 'renew' as const, serverId: 7, label, paidUntil: 1000 });
  expect(claimOf(renewal('old'))).toBe(claimOf(renewal('new')));
});

describe('the refusal that an error proves', () => {
  test.each(REFUSAL_CODES)('keeps the code and the details of %s', (code) => {
    const details = sampleDetails('web-1')[code];
    expect(refusalOf(new Refusal(code, details))).toEqual({ code, details });
  });

  test.each(HOSTING_CODES)('is the hosting API’s code, without its text (%s)', (code) => {
    const error = new HostingError(code, 'no', { unknownCode: 'secret', status: 402 });
    expect(refusalOf(error)).toEqual({ code, details: {} });
  });

  test('does not exist for a defect', () => {
    expect(refusalOf(new TypeError('x'))).toBeUndefined();
  });
});

test('the reason why an order is unconfirmed is a defect for any other error', () => {
  expect(unconfirmedReasonOf(new TypeError('x')).code).toBe('defect');
});
