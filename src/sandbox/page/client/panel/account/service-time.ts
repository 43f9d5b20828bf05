const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** "Dec 21" */
export function dayAt(ms: number): string {
  return new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' }).format(ms);
}

/** "Dec 21, 2026, 14:05" */
export function momentAt(ms: number): string {
  const how = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-US', how).format(ms);
}

/** Whether that moment has passed on the sandbox's clock, which is this far ahead. */
export function isPast(ms: number, movedMs: number): boolean {
  return ms <= Date.now() + movedMs;
}

/** "1 day and 2 hours" */
export function describeMove(movedMs: number): string {
  const days = Math.floor(movedMs / DAY_MS);
  const hours = Math.round((movedMs - days * DAY_MS) / HOUR_MS);
  return [describeCount(days, 'day'), describeCount(hours, 'hour')].filter(Boolean).join(' and ');
}

function describeCount(count: number, unit: string): string {
  if (count === 0) return '';
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
