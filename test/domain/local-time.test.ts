import { describe, expect, test } from 'vitest';
import { addDays, daysBetween, findZone, localDay, startOfHour } from '../../src/core/time.ts';

const iso = (at: number) => new Date(at).toISOString();

describe('the name of a time zone', () => {
  test.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    [' europe/berlin ', 'Europe/Berlin'],
    ['UTC', 'UTC'],
    ['Mars/Olympus', undefined],
    ['+01:00', undefined],
    ['', undefined],
    ['Europe/Berlin; drop', undefined],
  ])('%s is read as %s', (typed, zone) => {
    expect(findZone(typed)).toBe(zone);
  });
});

describe('an hour of a day', () => {
  test.each([
    ['is found in winter', '2026-01-15', 9, 'Europe/Berlin', '2026-01-15T08:00:00.000Z'],
    ['is found in summer', '2026-07-15', 9, 'Europe/Berlin', '2026-07-15T07:00:00.000Z'],
    [
      'is found on the day on which clocks go forward',
      '2026-03-29',
      9,
      'Europe/Berlin',
      '2026-03-29T07:00:00.000Z',
    ],
    [
      'is found on the day on which clocks go forward, before they do',
      '2026-03-29',
      1,
      'Europe/Berlin',
      '2026-03-29T00:00:00.000Z',
    ],
    [
      'that is skipped is the moment when clocks go forward',
      '2026-03-29',
      2,
      'Europe/Berlin',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'is found on the day on which clocks go back',
      '2026-10-25',
      9,
      'Europe/Berlin',
      '2026-10-25T08:00:00.000Z',
    ],
    ['that happens twice is the first one', '2026-10-25', 2, 'Europe/Berlin', '2026-10-25T00:00:00.000Z'],
    ['that is skipped in America', '2026-03-08', 2, 'America/New_York', '2026-03-08T07:00:00.000Z'],
    ['that happens twice in America', '2026-11-01', 1, 'America/New_York', '2026-11-01T05:00:00.000Z'],
    [
      'is found where clocks change by half an hour',
      '2026-10-04',
      2,
      'Australia/Lord_Howe',
      '2026-10-03T15:30:00.000Z',
    ],
    ['is found where midnight is skipped', '2026-03-29', 0, 'Asia/Beirut', '2026-03-28T22:00:00.000Z'],
    ['is found 14 hours east of UTC', '2026-06-01', 9, 'Pacific/Kiritimati', '2026-05-31T19:00:00.000Z'],
    ['is found with an offset of 45 minutes', '2026-06-01', 9, 'Asia/Kathmandu', '2026-06-01T03:15:00.000Z'],
  ])('%s', (_case, day, hour, zone, expected) => {
    expect(iso(startOfHour(day, hour, zone))).toBe(expected);
  });

  test('begins once on every day of a year, at the same local hour wherever that hour exists', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC']) {
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
