import type { DigestSettings } from './digest-settings.ts';
import type { ServerId, UserId } from './ids.ts';
import { addDays, daysBetween, localDay } from './local-time.ts';

/** When reminders are sent, without the channel. */
export type ReminderSettings = Omit<DigestSettings, 'channelId'>;

/**
 * What a user decided about the reminders for one month of a server: none before a day, or none at all. It says nothing about
 * the next month, since it names the end of this one.
 */
export interface ReminderMark {
  readonly serverId: ServerId;
  readonly label: string;
  /** The end of the paid time that it is about, in epoch milliseconds. */
  readonly paidUntil: number;
  readonly by: UserId;
  readonly at: number;
  /** The first day on which the server is listed again; absent when it is left to expire. */
  readonly untilDay?: string;
}

/** The days of the calendar that are left; 0 on the last one. An hour before midnight is a day before the day after. */
export function countDaysLeft(paidUntil: number, day: string, zone: string): number {
  return daysBetween(day, localDay(paidUntil, zone));
}

/** Whether the paid time ends soon enough for the digest of that day, and has not ended yet. */
export function isDue(
  paidUntil: number,
  day: string,
  now: number,
  { zone, daysBefore }: ReminderSettings,
): boolean {
  return paidUntil > now && countDaysLeft(paidUntil, day, zone) <= (daysBefore[0] ?? 0);
}

/** Whether the mark keeps this month of the server out of the digest of that day. */
export function isHidden(mark: ReminderMark | undefined, paidUntil: number, day: string): boolean {
  if (mark?.paidUntil !== paidUntil) return false;
  return mark.untilDay === undefined || day < mark.untilDay;
}

export const SNOOZES = ['day', 'step'] as const;
export type Snooze = (typeof SNOOZES)[number];
export type Urgency = 'high' | 'medium' | 'low';

/**
 * The first day on which a server that is snoozed on that day is listed again: after a day, or at the next of the steps that
 * are set. Undefined where that would be no day of rest, or later than the day before the paid time ends.
 */
export function findSnoozeEnd(
  snooze: Snooze,
  paidUntil: number,
  day: string,
  { zone, daysBefore }: ReminderSettings,
): string | undefined {
  const daysLeft = countDaysLeft(paidUntil, day, zone);
  const step = daysBefore.find((each) => each < daysLeft);
  const restDays = snooze === 'day' ? 2 : step === undefined ? 0 : daysLeft - step;
  return restDays >= 2 && daysLeft - restDays >= 1 ? addDays(day, restDays) : undefined;
}

/** High at the last of the steps that are set, low before the second one. */
export function findUrgency(daysLeft: number, daysBefore: readonly number[]): Urgency {
  if (daysLeft <= (daysBefore.at(-1) ?? 0)) return 'high';
  return daysLeft <= (daysBefore[1] ?? 0) ? 'medium' : 'low';
}
