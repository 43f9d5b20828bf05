import type { Order } from './catalog.ts';
import type { Money } from './money.ts';

/**
 * Where a paid operation stands (docs/design.md 4):
 * prepared (confirmed, nothing sent) → sent (committed before the request leaves) →
 * settled (done and paid), refused (proof that it was not done) or in_doubt (looked for, never sent again).
 */
export type OperationState = 'prepared' | 'sent' | 'settled' | 'refused' | 'in_doubt';

/** What somebody confirmed: a create, or a renewal of the month that ends at the `paidUntil` they saw. */
export type Purchase =
  | { readonly kind: 'create'; readonly order: Order }
  | { readonly kind: 'renew'; readonly serverId: number; readonly label: string; readonly paidUntil: number };

/** One confirmation by one person, and what became of it. A row of the ledger. */
export interface Operation {
  readonly id: string;
  readonly workspaceId: string;
  readonly actorId: string;
  /** Where the outcome is told; absent when the form was not opened from a channel. */
  readonly channelId?: string;
  readonly purchase: Purchase;
  readonly state: OperationState;
  /** The monthly price that was confirmed; absent for a renewal of a server that was not made here. */
  readonly price?: Money;
  /** Server ids that existed just before a create was sent: a new id is told apart by them. */
  readonly knownIds: readonly number[];
  readonly serverId?: number;
  /** Epoch milliseconds, after a settled renewal. */
  readonly paidUntil?: number;
  /** Why it was refused, or why it is in doubt: a code of `errors.ts`, and that code's details. */
  readonly reason?: string;
  readonly reasonDetails?: Readonly<Record<string, string | number>>;
  /** False when the server was found later and the password was in an answer that never came. */
  readonly hasPassword: boolean;
  readonly createdAt: number;
  readonly sentAt?: number;
  readonly endedAt?: number;
  /** When the actor was told the outcome; absent means it is still owed. */
  readonly notifiedAt?: number;
  /** Contradictory evidence: a person has to look. */
  readonly needsDecision: boolean;
}

/** Tells whether nothing more will happen to it. */
export function isEnded(operation: Operation): boolean {
  return operation.state === 'settled' || operation.state === 'refused';
}

/** The label of the server that is being made or renewed. */
export function labelOf(purchase: Purchase): string {
  return purchase.kind === 'create' ? purchase.order.label : purchase.label;
}

/**
 * What two confirmations must not both pay for: the same month of the same server (docs/design.md 4.1).
 * Empty for a create, whose own id is all that makes it one of a kind.
 */
export function claimOf(purchase: Purchase): string {
  return purchase.kind === 'renew' ? `renew:${purchase.serverId}:${purchase.paidUntil}` : '';
}
