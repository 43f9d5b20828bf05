import type { ChannelId } from './ids.ts';

/** The daily digest of a workspace. Without it there is none. */
export interface DigestSettings {
  readonly channelId: ChannelId;
  /** 0 to 23, on the clocks of that zone. */
  readonly hour: number;
  /** An IANA name such as Europe/Berlin. */
  readonly zone: string;
  /** How many days before the paid time ends a server is listed, and counts as more urgent; the largest first. */
  readonly daysBefore: readonly number[];
}

/** What the form proposes, besides the owner's own time zone. */
export const DEFAULT_DIGEST = { hour: 9, zone: 'UTC', daysBefore: [7, 3, 1] } as const;

const MOST_STEPS = 5;
const MOST_DAYS = 60;

/** Reads "7, 3, 1" in any order; undefined for anything but up to five numbers of days from 1 to 60. */
export function findDaysBefore(typed: string): readonly number[] | undefined {
  const words = typed.split(/[\s,;]+/).filter((word) => word !== '');
  const days = [...new Set(words.map((word) => (/^\d{1,2}$/.test(word) ? Number(word) : Number.NaN)))];
  const areDays = days.every((each) => each >= 1 && each <= MOST_DAYS);
  if (!areDays || days.length === 0 || days.length > MOST_STEPS) return undefined;
  return days.sort((a, b) => b - a);
}

/** Writes it for the form: "7, 3, 1". */
export function describeDaysBefore(days: readonly number[]): string {
  return days.join(', ');
}
