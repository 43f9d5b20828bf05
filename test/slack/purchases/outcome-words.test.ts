import { describe, expect, test } from 'vitest';
import {
  isProven,
  labelOf,
  type Operation,
  type OperationRefusal,
} from '../../../src/purchases/operation.ts';
import { outcomeMessage, outcomeWords } from '../../../src/purchases/outcomes.ts';
import { operationsOf } from '../../../src/sandbox/gallery/fixtures/purchases.ts';
import { refusalsOf, unconfirmedReasons } from '../../../src/sandbox/gallery/fixtures/reasons.ts';
import { makeOperation } from '../../../src/sandbox/gallery/fixtures/samples.ts';

const EUR = { currency: 'EUR' };
const NONE = { currency: '' };
const withoutDates = (text: string) => text.replace(/<!date\^\d+\^[^>]*>/g, '');
const refused = (reason: OperationRefusal) => outcomeWords(makeOperation({ state: 'refused', reason }), EUR);
const ended: readonly [string, Operation][] = operationsOf('web-1').map((operation) => [
  [operation.purchase.kind, operation.state, operation.reason?.code ?? ''].join(' '),
  operation,
]);
const refusals = refusalsOf('web-1').map((reason) => [reason.code, reason] as const);

describe('the words for the outcome of an order', () => {
  test.each(ended)('name the server (%s, sample %#)', (_name, operation) => {
    expect(outcomeWords(operation, EUR)).toContain(labelOf(operation.purchase));
  });

  test.each(ended)('never show an internal code (%s, sample %#)', (_name, operation) => {
    const shown = JSON.stringify(outcomeMessage(operation, NONE).blocks);
    const words = withoutDates(outcomeWords(operation, NONE));
    expect(words).not.toMatch(/[a-z]_[a-z]|undefined|\[object|null/);
    expect(shown).not.toContain('code_of_the_future');
  });

  test.each(refusals)('say that nothing was charged only if that is proven (%s)', (_code, reason) => {
    const said = refused(reason).match(/nothing (more )?(was|is) charged/gi) ?? [];
    const isSaid = isProven(reason) && reason.code !== 'not_created';
    expect(said).toHaveLength(isSaid ? 1 : 0);
  });

  test('say that the charge is back after the hosting company couldn’t create the server', () => {
    expect(refused({ code: 'not_created', details: {} })).toBe(
      '`web-1` wasn’t created, and the month’s charge is back on the balance. The hosting company couldn’t create the server.',
    );
  });

  test('say that a manager resolved the order, if a manager did', () => {
    expect(refused({ code: 'decided_not_done', details: {} })).toMatch(/`web-1` wasn’t created.*manager/);
  });

  test.each(
    unconfirmedReasons.map((reason) => [reason.code, reason] as const),
  )('never claim an outcome while the order is unconfirmed (%s)', (_code, reason) => {
    for (const needsDecision of [false, true]) {
      const operation = makeOperation({ state: 'unconfirmed', reason, needsDecision });
      const words = outcomeWords(operation, NONE);
      expect(words).toMatch(/not sure yet|can’t tell/);
      expect(words).not.toMatch(/wasn’t created|nothing was charged|order again/i);
    }
  });
});
