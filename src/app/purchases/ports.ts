import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Money } from '../../domain/money.ts';
import type { Operation, Purchase } from '../../domain/operation.ts';
import type { Secret } from '../../domain/secret.ts';
import type { LockOwner } from '../locks.ts';

export interface NewOperation {
  readonly id: string;
  readonly workspaceId: string;
  readonly actorId: string;
  readonly channelId?: string;
  readonly purchase: Purchase;
  readonly price?: Money;
  readonly at: number;
}

/** The most that may be spent since a moment; absent for no limit. */
export interface Budget {
  readonly since: number;
  readonly workspace?: Money;
  readonly person?: Money;
}

/** Only what was spent with this app, and whose price is known. */
export interface Spent {
  readonly workspace: Money;
  readonly person: Money;
}

export type Prepared =
  | { readonly kind: 'new' | 'known'; readonly operation: Operation }
  | {
      readonly kind: 'over_budget';
      readonly whose: 'workspace' | 'person';
      readonly spent: Money;
      readonly most: Money;
    };

/** A lease on a row: whoever holds it works on the operation, until it ends by itself. */
export interface Lease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** The ledger of paid operations (docs/design.md 4). Every method is one durable transaction. */
export interface Ledger {
  /**
   * Writes a confirmation. The same id again, or another operation that holds the same claim
   * (the same month of the same server) and was not refused, is returned instead.
   * What it would spend is held against the budget in the same transaction: over it, nothing is written.
   */
  prepare(operation: NewOperation, budget?: Budget): Promise<Prepared>;
  /** What confirmations of this workspace since then have paid or may still pay, and this person's part of it. */
  sumSpent(workspaceId: string, actorId: string, since: number): Promise<Spent>;
  find(id: string): Promise<Operation | undefined>;
  /** The settled create that made this server here: only its order names the plan, and so the price. */
  findCreateOf(workspaceId: string, serverId: number): Promise<Operation | undefined>;
  /**
   * prepared → sent, committed before the request leaves; each retry of the same owner is a new attempt. False when it
   * has ended, when another owner sent it or holds its lease, or when the lock is no longer this owner's.
   */
  markSent(
    id: string,
    sent: {
      readonly at: number;
      readonly owner: string;
      readonly knownIds: readonly number[];
      readonly lock?: LockOwner;
    },
  ): Promise<boolean>;
  /**
   * sent | in_doubt → settled, with the sealed password and the audit entry in the same transaction.
   * The API's own answer, however late, also corrects what others concluded without it: a refusal, or a
   * settlement that had no password.
   */
  settle(
    id: string,
    settled: {
      readonly at: number;
      /** Absent when a person has seen it done in an account that is not connected any more. */
      readonly serverId?: number;
      readonly paidUntil?: number;
      readonly password?: Secret<string>;
      /** It is the API's own answer, not what was concluded from a list. */
      readonly isFirstHand?: boolean;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** prepared | sent | in_doubt → refused. Gives its claim back. */
  refuse(
    id: string,
    refused: {
      readonly at: number;
      readonly reason: string;
      readonly reasonDetails?: Readonly<Record<string, string | number>>;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** sent → in_doubt, to be looked at again at `dueAt`. */
  markUnconfirmed(
    id: string,
    doubt: { readonly at: number; readonly dueAt: number; readonly reason: string },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** Marks an operation in doubt as one that a person has to look at, and why; it is not looked for any more. */
  markNeedsDecision(id: string, audit: AuditEntry, reason?: string): Promise<void>;

  /** Takes the lease of one operation. False when somebody else holds it. */
  lease(id: string, lease: Lease): Promise<boolean>;
  /** Takes the lease of one operation that is due: not ended, or ended and not told. */
  leaseDue(lease: Lease): Promise<Operation | undefined>;
  /** Gives the lease back; it becomes due again then (absent: when something else makes it due). */
  release(id: string, owner: string, dueAt?: number): Promise<void>;
  /** Operations of this workspace that are neither settled nor refused, oldest first. */
  listOpen(workspaceId: string): Promise<readonly Operation[]>;
  /** The same of all workspaces, counted. */
  countOpen(): Promise<number>;
  /** Operations of this server, newest first. */
  listOfServer(workspaceId: string, serverId: number, limit: number): Promise<readonly Operation[]>;
  /** Ids that settled creates of this workspace have been given, among these; `after` leaves out older confirmations. */
  listSettledIds(workspaceId: string, among: readonly number[], after?: number): Promise<readonly number[]>;
  /**
   * The actor was told how it stood; ended operations are not due any more. When it has moved on since,
   * the new state stays owed.
   */
  markNotified(
    told: Pick<Operation, 'id' | 'state' | 'needsDecision' | 'hasPassword'>,
    at: number,
  ): Promise<void>;
}

/** Root passwords that wait to be saved (docs/design.md 5). Sealed at rest; opened only to be shown to their creator. */
export interface Passwords {
  find(operationId: string): Promise<HeldPassword | undefined>;
  /** Which servers of this workspace have one, newest first; nothing is opened. */
  listHeld(workspaceId: string): Promise<readonly Omit<HeldPassword, 'password'>[]>;
  /** Slack took the message: from now on it is held for `holdMs` (0 erases it at once). */
  markDelivered(operationId: string, at: number, holdMs: number): Promise<void>;
  /** Operations whose password has not been delivered; `leaseDue` hands out their operations. */
  countUndelivered(): Promise<number>;
  erase(operationId: string): Promise<boolean>;
  /** Erases the delivered ones whose time is over. An undelivered one is never erased by time. */
  eraseExpired(now: number): Promise<number>;
}

export interface HeldPassword {
  readonly operationId: string;
  readonly workspaceId: string;
  readonly creatorId: string;
  readonly serverId: number;
  readonly label: string;
  readonly password: Secret<string>;
  /** Epoch milliseconds; absent until it is delivered. */
  readonly heldUntil?: number;
}

/** Tells users the outcome of what they confirmed. */
export interface OperationNotifier {
  /**
   * Tells the actor how the operation stands, with the root password if one is held. The password is shown ephemerally or
   * not at all; the rest may come as a direct message where nothing ephemeral gets through. Never throws.
   */
  notify(
    operation: Operation,
    password: HeldPassword | undefined,
  ): Promise<{ readonly isNotified: boolean; readonly isPasswordShown: boolean }>;
}
