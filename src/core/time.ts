/** Durations in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** Reads a day such as 2026-01-31 as its first moment in UTC, in epoch milliseconds; undefined if there is no such day. */
export function findDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // February 31 would be read as a day in March.
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: WEEK_MS };

/** Reads a duration such as 30m, 8h, 2d or 1w in milliseconds; undefined for anything else. */
export function findDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,4})([mhdw])$/.exec(text.toLowerCase()) ?? [];
  const unitMs = UNITS[unit];
  return unitMs && Number(amount) * unitMs;
}

/**
 * Counts the days until the end of the paid time; 0 once it has passed. Both in epoch milliseconds. Rounds, so that 30 days that
 * were bought a second ago count as 30.
 */
export function countPaidDays(paidUntil: number, now: number): number {
  return Math.max(0, Math.round((paidUntil - now) / DAY_MS));
}

/** Returns the first moment of the present month in UTC, which budgets go by, in epoch milliseconds. */
export function monthStart(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/*
 * The rest is about days and hours of an IANA time zone, by the runtime's time zone data. A day is written like 2026-01-31, a
 * moment is in epoch milliseconds.
 */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the cached format of a zone: making one takes much longer than using it. There are a few hundred zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    // This version of Node may not know a zone that was chosen under a newer one.
    timeZone: findZone(zone) ?? 'UTC',
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone, made);
  return made;
}

/** Reads the IANA name of a time zone in any letter case; undefined if the runtime doesn't know it. */
export function findZone(typed: string): string | undefined {
  const name = typed.trim();
  // Node also takes offsets such as +01:00, which have no clock changes.
  if (!/^[a-z][\w+/-]{1,60}$/i.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Returns what the clocks of the zone show at a moment, as if that were a time in UTC. */
function shownAt(at: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

export function localDay(at: number, zone: string): string {
  return new Date(shownAt(at, zone)).toISOString().slice(0, 10);
}

/** Counts the days from one day to another; negative if `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns the moment when an hour (0 to 23) begins in a zone: of an hour that happens twice, the first; of one that is skipped,
 * the moment when the clocks are set forward.
 */
export function startOfHour(day: string, hour: number, zone: string): number {
  const wanted = Date.parse(day) + hour * HOUR_MS;
  const offsetAt = (at: number) => shownAt(at, zone) - at;
  const before = wanted - offsetAt(wanted - DAY_MS);
  const after = wanted - offsetAt(wanted + DAY_MS);
  const isShown = (at: number) => shownAt(at, zone) === wanted;
  return isShown(before) || !isShown(after) ? before : after;
}
