export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** The first moment of a UTC day that is written like 2026-01-31; undefined when there is no such day. */
export function findDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // February 31 would be read as a day in March.
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

/**
 * Counts the days between now and the end of the paid time; 0 once it has passed. Rounded, so that a month of 30 days that
 * was bought a second ago has 30 days left.
 */
export function countPaidDays(paidUntil: number, now: number): number {
  return Math.max(0, Math.round((paidUntil - now) / DAY_MS));
}

/** The first moment of the month that a budget covers, in UTC. */
export function monthStart(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}
