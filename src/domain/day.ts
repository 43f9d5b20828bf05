/** The first moment of a day of UTC that is written like 2026-01-31; undefined when there is no such day. */
export function findDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // 31 February would be a day in March.
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}
