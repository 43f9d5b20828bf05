import type { ServerId, UserId } from './ids.ts';
import type { Money } from './money.ts';
import type { Snooze, Urgency } from './reminder.ts';

/** A server as a digest names it; by then it may be gone. */
export interface NamedServer {
  readonly serverId: ServerId;
  readonly label: string;
}

/** The state of a month that was due when the digest was posted. */
export type DueStanding =
  | { readonly kind: 'due' | 'expired' }
  /** A renewal is in progress, or it isn't known yet whether it was paid. */
  | { readonly kind: 'paying' | 'unconfirmed'; readonly by: UserId }
  | { readonly kind: 'renewed'; readonly by: UserId; readonly paidUntil?: number }
  | { readonly kind: 'snoozed'; readonly by: UserId; readonly untilDay: string }
  | { readonly kind: 'left'; readonly by: UserId }
  | { readonly kind: 'gone'; readonly by: UserId };

/** A server whose paid time was about to end. */
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

/** A server whose paid time has ended since the last digest. */
export interface ExpiredServer extends NamedServer {
  readonly paidUntil: number;
  /** Who left it to expire. */
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

/** Whether there is anything to tell. */
export function isQuiet({ due, expired, drift }: DigestContent): boolean {
  return [due, expired, drift.appeared, drift.vanished, drift.changed].every((each) => each.length === 0);
}

/** A digest as its message shows it now. */
export interface Digest extends Omit<DigestContent, 'due'> {
  readonly day: string;
  readonly due: readonly (DueServer & { readonly standing: DueStanding })[];
}
