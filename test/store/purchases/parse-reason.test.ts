import { describe, expect, test } from 'vitest';
import { parseStanding, toReasonColumns } from '../../../src/purchases/ledger-rows.ts';
import { refusalsOf, unconfirmedReasons } from '../../../src/sandbox/gallery/fixtures/sample-outcomes.ts';

const byCode = <Sample extends { readonly code: string }>(samples: readonly Sample[]) =>
  samples.map((sample) => [sample.code, sample] as const);
const unreadable = (code: string) => ({ code: 'unreadable', details: { code } });

describe('a stored reason', () => {
  test.each(byCode(refusalsOf('wéb "1"')))('of a refusal is read as it was written (%s)', (_code, reason) => {
    const row = { state: 'refused', ...toReasonColumns(reason) } as const;
    expect(parseStanding(row)).toEqual({ state: 'refused', reason });
  });

  test.each(
    byCode(unconfirmedReasons),
  )('of an unconfirmed order is read as it was written (%s)', (_code, reason) => {
    const row = { state: 'in_doubt', ...toReasonColumns(reason) } as const;
    expect(parseStanding(row)).toEqual({ state: 'unconfirmed', reason });
  });

  test.each([
    ['an unknown code', 'code_of_the_future', '{}'],
    ['a code that is only a property of every object', 'constructor', null],
    ['details of another shape', 'price_moved', '{"from":1}'],
    ['no details where there have to be some', 'price_moved', null],
    ['details that are no JSON', 'price_moved', '{'],
  ])('with %s is said to be unreadable, and breaks nothing', (_words, reason, reason_details) => {
    const row = { reason, reason_details };
    expect(parseStanding({ state: 'refused', ...row }).reason).toEqual(unreadable(reason));
    expect(parseStanding({ state: 'in_doubt', ...row }).reason).toEqual(unreadable(reason));
  });

  test('may have details that this version does not know', () => {
    const row = {
      state: 'refused',
      reason: 'price_moved',
      reason_details: '{"before":1,"now":2,"why":3}',
    } as const;
    expect(parseStanding(row).reason).toEqual({ code: 'price_moved', details: { before: 1, now: 2 } });
  });

  test('that is missing is unreadable', () => {
    const row = { state: 'refused', reason: null, reason_details: null } as const;
    expect(parseStanding(row).reason).toEqual(unreadable(''));
  });

  test('belongs to no other state', () => {
    const row = { state: 'settled', reason: 'limit', reason_details: null } as const;
    expect(parseStanding(row)).toEqual({ state: 'settled' });
  });
});
