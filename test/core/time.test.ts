import { describe, expect, test } from 'vitest';
import { findDaysBefore } from '../../src/core/settings.ts';
import {
  addDays,
  countPaidDays,
  DAY_MS,
  daysBetween,
  findDay,
  findZone,
  localDay,
  monthStart,
  startOfHour,
} from '../../src/core/time.ts';
import { findSnoozeEnd, isDue, isHidden } from '../../src/reminders/digest-content.ts';

test.each([
  [30 * DAY_MS - 1000, 30],
  [DAY_MS - 1000, 1],
  [DAY_MS / 3, 0],
  [-5 * DAY_MS, 0],
])('the paid days that are left in %i ms are %i', (left, days) => {
  expect(countPaidDays(1_790_000_000_000 + left, 1_790_000_000_000)).toBe(days);
});

test.each([
  ['2026-01-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z'],
])('the month of a budget of %s starts at %s', (now, start) => {
  expect(monthStart(Date.parse(now))).toBe(Date.parse(start));
});

describe('a day', () => {
  test('starts at midnight UTC', () => {
    expect(findDay('2026-01-31')).toBe(Date.UTC(2026, 0, 31));
  });

  test.each(['2026-02-31', '2026-1-1', '', '2026-01-31T00:00'])('is not read from %j', (text) => {
    expect(findDay(text)).toBeUndefined();
  });
});

test.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  [' europe/berlin ', 'Europe/Berlin'],
  ['Mars/Olympus', undefined],
  ['+01:00', undefined],
])('the time zone %s is read as %s', (typed, zone) => {
  expect(findZone(typed)).toBe(zone);
});

describe('an hour of a day', () => {
  test.each([
    ['that is skipped is when clocks go forward', '2026-03-29', 2, 'Europe/Berlin', '2026-03-29T01:00Z'],
    ['that happens twice is the first one', '2026-10-25', 2, 'Europe/Berlin', '2026-10-25T00:00Z'],
    ['is found where clocks change by 30 min', '2026-10-04', 2, 'Australia/Lord_Howe', '2026-10-03T15:30Z'],
    ['is found where midnight is skipped', '2026-03-29', 0, 'Asia/Beirut', '2026-03-28T22:00Z'],
  ])('%s', (_case, day, hour, zone, expected) => {
    expect(startOfHour(day, hour, zone)).toBe(Date.parse(expected));
  });

  test('begins once on every day of a year, at the same local hour wherever that hour exists', () => {
    for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata']) {
      for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1)) {
        const at = startOfHour(day, 9, zone);
        expect(localDay(at, zone), zone).toBe(day);
        const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' }).format(at);
        expect(clock, `${day} ${zone}`).toBe('09:00');
      }
    }
  });
});

describe('days', () => {
  test('begin at midnight of their zone', () => {
    const at = Date.parse('2026-03-01T23:30:00Z');
    expect([localDay(at, 'UTC'), localDay(at, 'Europe/Berlin'), localDay(at, 'America/New_York')]).toEqual([
      '2026-03-01',
      '2026-03-02',
      '2026-03-01',
    ]);
  });

  test('are counted by the calendar', () => {
    expect(daysBetween('2026-02-27', '2026-03-02')).toBe(3);
    expect(addDays('2026-02-27', 3)).toBe('2026-03-02');
    expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2);
  });
});

const settings = { hour: 9, zone: 'Europe/Berlin', daysBefore: [7, 3, 1] };
const TODAY = '2026-03-02';

const at = (text: string) => Date.parse(text);

describe('a server is due', () => {
  test.each([
    ['late in the evening of the seventh day before its paid time ends', '2026-03-09T22:59:00Z', true],
    ['not on the eighth day before, by the days of the settings’ time zone', '2026-03-09T23:00:00Z', false],
    ['on its last paid day', '2026-03-02T08:06:00Z', true],
    ['once its paid time has ended', '2026-02-20T08:05:00Z', true],
  ])('%s', (_case, paidUntil, due) => {
    expect(isDue(at(paidUntil), TODAY, settings)).toBe(due);
  });
});

describe('a snooze', () => {
  test.each([
    ['until the next step', '2026-03-08T12:00:00Z', '2026-03-05'],
    ['until the last step', '2026-03-05T12:00:00Z', '2026-03-04'],
    ['for a day, if the next step is tomorrow', '2026-03-06T12:00:00Z', '2026-03-04'],
    // Two days are left, or fewer: there would be no day on which it is listed again.
    ['not at all', '2026-03-04T12:00:00Z', undefined],
    ['not at all', '2026-03-02T12:00:00Z', undefined],
  ] as const)('lasts %s, for a server paid until %s', (_for, paidUntil, end) => {
    expect(findSnoozeEnd(at(paidUntil), TODAY, settings)).toBe(end);
  });

  test('lasts for a day without another step', () => {
    expect(findSnoozeEnd(at('2026-03-08T12:00:00Z'), TODAY, { ...settings, daysBefore: [7] })).toBe(
      '2026-03-04',
    );
  });

  test('hides one month of a server until its day, and no other month', () => {
    const mark = { serverId: 1, paidUntil: 5, by: 'U1', untilDay: '2026-03-04' };
    expect(isHidden(mark, 5, '2026-03-03')).toBe(true);
    expect(isHidden(mark, 5, '2026-03-04')).toBe(false);
    expect(isHidden(mark, 6, '2026-03-03')).toBe(false);
    expect(isHidden(undefined, 5, '2026-03-03')).toBe(false);
    const { untilDay: _, ...left } = mark;
    expect(isHidden(left, 5, '2099-01-01')).toBe(true);
  });
});

test.each([
  ['1 3 7', [7, 3, 1]],
  ['14;7;7', [14, 7]],
  ['0', undefined],
  ['', undefined],
  ['1,2,3,4,5,6', undefined],
  ['1.5', undefined],
])('the days of reminders before a renewal, %j, are read as %j', (typed, days) => {
  expect(findDaysBefore(typed)).toEqual(days);
});
