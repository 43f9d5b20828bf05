import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeMoney, findMoney, money } from '../../src/core/money.ts';

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
    ['0.10', 10],
    ['0.05', 5],
    ['0', 0],
    ['7', 700],
    ['5.9', 590],
    [' 5.90 ', 590],
    ['999999999999.99', 99_999_999_999_999],
  ])('is read from %j as %i hundredths', (text, hundredths) => {
    expect(findMoney(text)).toBe(hundredths);
  });

  it.each([
    ['4.999', 'more decimals than can be paid'],
    ['1.500', 'a third decimal, with which 1500 may be meant'],
    ['4.9901', 'more decimals after zeros'],
    ['-4.99', 'a sign'],
    ['+4.99', 'a sign'],
    ['', 'nothing'],
    ['   ', 'blanks'],
    ['4 99', 'a blank inside'],
    ['4.', 'no decimals after the point'],
    ['.99', 'nothing before the point'],
    ['4,99', 'a comma'],
    ['1,000.00', 'a thousands separator'],
    ['4.99 EUR', 'a currency'],
    ['0x10', 'another base'],
    ['1e3', 'an exponent'],
    ['NaN', 'no number'],
    ['Infinity', 'no amount'],
    ['٤.٩٩', 'digits of another script'],
    ['1234567890123.00', 'more than can be counted exactly'],
    ['4.99\n5.99', 'two lines'],
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

  it('is shown with two decimals, and with the operator’s currency', () => {
    expect(describeMoney(money(5))).toBe('0.05');
    expect(describeMoney(money(123_450))).toBe('1234.50');
    expect(describeMoney(money(590), 'EUR')).toBe('5.90 EUR');
  });
});
