import { describe, expect, test } from 'vitest';
import { findDaysBefore } from '../../src/core/settings.ts';
import { findSnoozeEnd, findUrgency, isDue, isHidden } from '../../src/reminders/reminder.ts';

const settings = { hour: 9, zone: 'Europe/Berlin', daysBefore: [7, 3, 1] };
const TODAY = '2026-03-02';
/** 09:05 in Berlin. */
const NOW = Date.parse('2026-03-02T08:05:00Z');
const at = (text: string) => Date.parse(text);

describe('a server is due', () => {
  test.each([
    ['late in the evening of the seventh day before its paid time ends', '2026-03-09T22:59:00Z', true],
    ['not on the eighth day before, by the days of the settings’ time zone', '2026-03-09T23:00:00Z', false],
    ['on its last paid day', '2026-03-02T08:06:00Z', true],
    ['not once its paid time has ended', '2026-03-02T08:05:00Z', false],
  ])('%s', (_case, paidUntil, due) => {
    expect(isDue(at(paidUntil), TODAY, NOW, settings)).toBe(due);
  });

  test('more urgently with each step, and urgently at the last', () => {
    expect([7, 4, 3, 2, 1, 0].map((left) => findUrgency(left, settings.daysBefore))).toEqual([
      'low',
      'low',
      'medium',
      'medium',
      'high',
      'high',
    ]);
    expect([5, 1].map((left) => findUrgency(left, [5]))).toEqual(['high', 'high']);
  });
});

describe('a snooze', () => {
  test.each([
    ['day', '2026-03-08T12:00:00Z', '2026-03-04'],
    ['step', '2026-03-08T12:00:00Z', '2026-03-05'],
    ['day', '2026-03-05T12:00:00Z', '2026-03-04'],
    ['step', '2026-03-05T12:00:00Z', '2026-03-04'],
    // Two days are left, or fewer: there would be no day on which it is listed again.
    ['day', '2026-03-04T12:00:00Z', undefined],
    ['step', '2026-03-04T12:00:00Z', undefined],
    ['day', '2026-03-03T12:00:00Z', undefined],
    ['step', '2026-03-02T12:00:00Z', undefined],
  ] as const)('of a %s, for a server paid until %s, ends on %s', (snooze, paidUntil, end) => {
    expect(findSnoozeEnd(snooze, at(paidUntil), TODAY, settings)).toBe(end);
  });

  test('hides one month of a server until its day, and no other month', () => {
    const mark = { serverId: 1, label: 'web-1', paidUntil: 5, by: 'U1', at: 0, untilDay: '2026-03-04' };
    expect(isHidden(mark, 5, '2026-03-03')).toBe(true);
    expect(isHidden(mark, 5, '2026-03-04')).toBe(false);
    expect(isHidden(mark, 6, '2026-03-03')).toBe(false);
    expect(isHidden(undefined, 5, '2026-03-03')).toBe(false);
    const { untilDay: _, ...left } = mark;
    expect(isHidden(left, 5, '2099-01-01')).toBe(true);
  });
});

describe('the days before a renewal on which reminders are sent', () => {
  test.each([
    ['7, 3, 1', [7, 3, 1]],
    ['1 3 7', [7, 3, 1]],
    ['14;7;7', [14, 7]],
    ['0', undefined],
    ['61', undefined],
    ['', undefined],
    ['a week', undefined],
    ['1,2,3,4,5,6', undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('%s are read as %j', (typed, days) => {
    expect(findDaysBefore(typed)).toEqual(days);
  });
});
