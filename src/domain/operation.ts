import type { Order } from './catalog.ts';
import type { ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from './ids.ts';
import type { Money } from './money.ts';
import type { OperationRefusal, UnconfirmedReason } from './outcome.ts';

/**
 * The states of a paid operation (docs/design.md 4):
 * prepared (confirmed, nothing sent) → sent (committed before the request leaves) →
 * settled (done and paid), refused (not done) or unconfirmed (looked for, never sent again).
 */
export type OperationState = Standing['state'];

/** The state, and why it was refused or is unconfirmed. */
export type Standing =
  | { readonly state: 'prepared' | 'sent' | 'settled'; readonly reason?: never }
  | { readonly state: 'refused'; readonly reason: OperationRefusal }
  | { readonly state: 'unconfirmed'; readonly reason: UnconfirmedReason };

/** What a user confirmed: a create, or a renewal of the month that ends at the `paidUntil` they saw. */
export type Purchase =
  | {
      readonly kind: 'create';
      readonly order: Order;
      /** The servers with the same label that the review showed; absent: none. */
      readonly namesakeIds?: readonly ServerId[];
    }
  | {
      readonly kind: 'renew';
      readonly serverId: ServerId;
      readonly label: string;
      /** Epoch milliseconds. */
      readonly paidUntil: number;
    };

/** What was confirmed is sent within this time, or not at all (docs/design.md 4.7). */
export const SEND_WITHIN_MS = 2 * 60_000;

/** How far two readings of the clock may differ without it having been set back. */
export const CLOCK_SLACK_MS = 10_000;

/** Whether it may still be sent: a clock that was set back since shortens the time for that, and never makes it longer. */
export function isInTime(
  { createdAt, sendBy }: Pick<Operation, 'createdAt' | 'sendBy'>,
  now: number,
): boolean {
  return now <= sendBy && createdAt <= now + CLOCK_SLACK_MS;
}

/** One confirmation by one user, and its outcome. A row of the ledger. */
export type Operation = Confirmed & Standing;

interface Confirmed {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  /** Where the actor is notified; absent when the form was not opened from a channel. */
  readonly channelId?: ChannelId;
  readonly purchase: Purchase;
  /** The monthly price that was confirmed; absent for a renewal of a server that was not created with this app. */
  readonly price?: Money;
  /** Server ids that existed just before a create was sent: a server with another id is new. */
  readonly knownIds: readonly ServerId[];
  readonly serverId?: ServerId;
  /** Epoch milliseconds, after a settled renewal. */
  readonly paidUntil?: number;
  /** False if the server was only found later, and its password was in an answer that never arrived. */
  readonly hasPassword: boolean;
  readonly createdAt: number;
  /** After this it is not sent any more; epoch milliseconds. */
  readonly sendBy: number;
  readonly sentAt?: number;
  readonly endedAt?: number;
  /** When the actor was notified of this state; absent until then. */
  readonly notifiedAt?: number;
  /** A manager has to decide. It is looked for all the same. */
  readonly needsDecision: boolean;
  /** The manager who decided that it was not done. */
  readonly decidedBy?: UserId;
  /** It was found after it had been ended without proof: the earlier message was wrong. */
  readonly isLate: boolean;
  /** Which API key the workspace had when it was confirmed: the count of its changes. */
  readonly keyGeneration: number;
  /** The short name of the account that it was sent to; absent before, and in rows of older versions. */
  readonly account?: string;
  /** Milliseconds that have passed, on the monotonic clock, while the app was looking for it. */
  readonly lookedMs: number;
}

/** Whether nothing more will happen to it. */
export function isEnded(operation: Operation): boolean {
  return operation.state === 'settled' || operation.state === 'refused';
}

/** Whether what was sent may still turn out to be done: unconfirmed, or ended without proof. */
export function isLookedFor({ state, reason }: Operation): boolean {
  if (state === 'unconfirmed') return true;
  return state === 'refused' && (reason.code === 'not_done' || reason.code === 'decided_not_done');
}

/** The label of the server that is created or renewed. */
export function labelOf(purchase: Purchase): string {
  return purchase.kind === 'create' ? purchase.order.label : purchase.label;
}

/**
 * An operation's claim: the month of the server that no other operation may pay for (docs/design.md 4.1).
 * Empty for a create: two creates are two servers, and its own id stops a second press.
 */
export function claimOf(purchase: Purchase): string {
  return purchase.kind === 'renew' ? `renew:${purchase.serverId}:${purchase.paidUntil}` : '';
}
