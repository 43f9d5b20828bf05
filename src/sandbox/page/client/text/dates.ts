const DAY_MS = 86_400_000;

/** Fills Slack's date tokens in the reader's own zone (Slack's "Formatting message text" page). */
export function formatSlackDate(seconds: number, format: string, nowMs: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  return format.replace(/\{(\w+)\}/g, (whole, token: string) => fillToken(token, date, nowMs) ?? whole);
}

const FORMATS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  date: { month: 'long', day: 'numeric', year: 'numeric' },
  date_short: { month: 'short', day: 'numeric', year: 'numeric' },
  date_long: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
  date_long_full: { month: 'long', day: 'numeric', year: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  time_secs: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
};

function fillToken(token: string, date: Date, nowMs: number): string | undefined {
  if (token === 'ago') return describeAgo(date.getTime() - nowMs);
  if (token === 'date_num') return isoDay(date);
  if (token === 'date_slash') return isoDay(date).replaceAll('-', '/');
  const plain = token === 'day_divider_pretty' ? 'date_long' : token.replace(/_pretty$/, '');
  const options = FORMATS[plain];
  if (!options) return undefined;
  const near = plain === token ? undefined : nearDay(date, nowMs);
  return near ?? new Intl.DateTimeFormat('en-US', options).format(date);
}

/** "today", "yesterday", "tomorrow"; undefined for other days. */
function nearDay(date: Date, nowMs: number): string | undefined {
  const days = Math.round((startOfDay(date.getTime()) - startOfDay(nowMs)) / DAY_MS);
  return { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)];
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

function isoDay(date: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function describeAgo(aheadMs: number): string {
  const minutes = Math.round(aheadMs / 60_000);
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  if (Math.abs(minutes) < 60) return words.format(minutes, 'minute');
  if (Math.abs(minutes) < 1440) return words.format(Math.round(minutes / 60), 'hour');
  return words.format(Math.round(minutes / 1440), 'day');
}

/** The moment of a message, from its ts. */
export function dateOfTs(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

/** "14:05" */
export function clockTime(date: Date): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(date);
}

/** "Today", "Yesterday", "Tuesday, October 6, 2026" */
export function describeDay(date: Date, nowMs: number): string {
  const words = formatSlackDate(date.getTime() / 1000, '{date_long_pretty}', nowMs);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
