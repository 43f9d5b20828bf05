import type { ServerId, UserId } from '../core/ids.ts';
import type { Money } from '../core/money.ts';
import type { DigestSettings } from '../core/settings.ts';
import { addDays, daysBetween, localDay } from '../core/time.ts';

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
type Urgency = 'high' | 'medium' | 'low';

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

/** A server as a digest names it; by then it may be gone. */
export interface NamedServer {
  readonly serverId: ServerId;
  readonly label: string;
}

export type DueStanding =
  | { readonly kind: 'due' | 'expired' }
  /** A renewal is in progress, or it isn't known yet whether it was paid. */
  | { readonly kind: 'paying' | 'unconfirmed'; readonly by: UserId }
  | { readonly kind: 'renewed'; readonly by: UserId; readonly paidUntil?: number }
  | { readonly kind: 'snoozed'; readonly by: UserId; readonly untilDay: string }
  | { readonly kind: 'left'; readonly by: UserId }
  | { readonly kind: 'gone'; readonly by: UserId };

export interface DueServer extends NamedServer {
  readonly paidUntil: number;
  /** On the day of the digest. */
  readonly daysLeft: number;
  readonly urgency: Urgency;
  /** The ways of snoozing it that leave time for another reminder. */
  readonly snoozes: readonly { readonly kind: Snooze; readonly untilDay: string }[];
  /** What was paid for it last with this app. The API reports no price of a server (docs/hosting-api.md 2). */
  readonly price?: Money;
}

export interface ExpiredServer extends NamedServer {
  readonly paidUntil: number;
  readonly leftBy?: UserId;
  readonly isListed: boolean;
}

/** What has happened in the account since the last digest, and not through this app in this workspace. */
export interface Drift {
  readonly appeared: readonly NamedServer[];
  readonly vanished: readonly NamedServer[];
  readonly changed: readonly (NamedServer & { readonly before: string; readonly now: string })[];
}

export const NO_DRIFT: Drift = { appeared: [], vanished: [], changed: [] };

/** What a digest says on its day; the current state of the servers is looked up each time. */
export interface DigestContent {
  /** The most urgent first. */
  readonly due: readonly DueServer[];
  readonly expired: readonly ExpiredServer[];
  readonly drift: Drift;
  /** Servers that are due and were left out. */
  readonly snoozed: number;
  readonly left: number;
  /** False when the API did not show all servers. */
  readonly isComplete: boolean;
}

export function isQuiet({ due, expired, drift }: DigestContent): boolean {
  return [due, expired, drift.appeared, drift.vanished, drift.changed].every((each) => each.length === 0);
}

export interface Digest extends Omit<DigestContent, 'due'> {
  readonly day: string;
  readonly due: readonly (DueServer & { readonly standing: DueStanding })[];
}
