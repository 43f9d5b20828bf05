import { describe, expect, test } from 'vitest';
import { countPaidDays, DAY_MS, findDay, monthStart } from '../../src/core/time.ts';

describe('the paid days that are left', () => {
  test.each([
    [30 * DAY_MS, 30],
    [30 * DAY_MS - 1000, 30],
    [29.4 * DAY_MS, 29],
    [DAY_MS - 1000, 1],
    [DAY_MS / 3, 0],
    [0, 0],
    [-5 * DAY_MS, 0],
  ])('in %i ms are %i', (left, days) => {
    expect(countPaidDays(1_790_000_000_000 + left, 1_790_000_000_000)).toBe(days);
  });
});

describe('the month of a budget', () => {
  test.each([
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z'],
  ])('of %s starts at %s', (now, start) => {
    expect(monthStart(Date.parse(now))).toBe(Date.parse(start));
  });
});

describe('a day', () => {
  test('starts at midnight UTC', () => {
    expect(findDay('2026-01-31')).toBe(Date.UTC(2026, 0, 31));
  });

  test.each([
    '2026-02-31',
    '2026-1-1',
    'yesterday',
    '',
    '2026-01-31T00:00',
  ])('is not read from %j', (text) => {
    expect(findDay(text)).toBeUndefined();
  });
});
