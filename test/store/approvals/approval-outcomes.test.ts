import { describe, expect, test } from 'vitest';
import { readOutcome } from '../../../src/requests/approval-store.ts';

const unreadable = { code: 'unreadable', details: {} };

describe('a stored reason', () => {
  test.each([
    ['canceled', 'price_moved'],
    ['ended', 'done'],
    ['ended', 'wrong_state'],
  ])('without details, as the first release wrote it, is read: %s %s', (state, reason) => {
    expect(readOutcome({ state, reason, reason_details: null })).toEqual({
      state,
      reason: { code: reason, details: {} },
    });
  });

  test.each([
    ['canceled', 'from_another_version', '{}'],
    ['canceled', null, null],
    ['ended', 'price_moved', '{}'],
    ['ended', 'key_unreadable', null],
    ['ended', 'key_unreadable', '{"keyId":7}'],
    ['ended', 'done', '[]'],
  ])('is unreadable: %s %s %s', (state, reason, reason_details) => {
    expect(readOutcome({ state, reason, reason_details })).toEqual({ state, reason: unreadable });
  });

  test('is absent for states without a reason', () => {
    expect(readOutcome({ state: 'denied', reason: null, reason_details: null })).toEqual({
      state: 'denied',
    });
  });
});
