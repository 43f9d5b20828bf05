import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { Money } from '../../domain/money.ts';
import type { Operation, Purchase } from '../../domain/operation.ts';
import type { OperationRefusal, UnconfirmedReason } from '../../domain/outcome.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { ApiKeys } from '../account/ports.ts';
import type { FindHosting } from '../hosting-api.ts';
import type { LockOwner, Locks } from '../locks.ts';

export interface NewOperation {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
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

/** A lease of an operation: only its owner works on it, until it ends by itself. Times in epoch milliseconds. */
export interface Lease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** The ledger of paid operations (docs/design.md 4). Every method is one durable transaction. */
export interface Ledger {
  /**
   * Writes a confirmation. When the same id was written before, or an operation that was not refused has the same claim
   * (the same month of the same server), that one is returned instead.
   * What it would spend is compared with the budget in the same transaction: over it, nothing is written.
   */
  prepare(operation: NewOperation, budget?: Budget): Promise<Prepared>;
  /** What confirmations of this workspace since then have paid or may still pay, and this user's part of it. */
  sumSpent(workspaceId: WorkspaceId, actorId: UserId, since: number): Promise<Spent>;
  find(id: ConfirmationId): Promise<Operation | undefined>;
  /** The settled create that made this server with this app: only its order names the plan, and so the price. */
  findCreateOf(workspaceId: WorkspaceId, serverId: ServerId): Promise<Operation | undefined>;
  /**
   * prepared → sent, committed before the request leaves; each retry of the same owner is a new attempt. False when it
   * has ended, when another owner sent it or has its lease, or when the lock is no longer this owner's.
   */
  markSent(
    id: ConfirmationId,
    sent: {
      readonly at: number;
      readonly owner: string;
      readonly knownIds: readonly ServerId[];
      readonly lock?: LockOwner;
    },
  ): Promise<boolean>;
  /**
   * sent | unconfirmed → settled, with the sealed password and the audit entry in the same transaction.
   * The API's own answer, however late, also corrects what others concluded without it: a refusal, or a
   * settlement that had no password.
   */
  settle(
    id: ConfirmationId,
    settled: {
      readonly at: number;
      /** Absent when a manager has seen it done in an account that is not connected any more. */
      readonly serverId?: ServerId;
      readonly paidUntil?: number;
      readonly password?: Secret<string>;
      /** It is the API's own answer, not what was concluded from a list. */
      readonly isFirstHand?: boolean;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** prepared | sent | unconfirmed → refused. Gives its claim back: the same month can be confirmed again. */
  refuse(
    id: ConfirmationId,
    refused: { readonly at: number; readonly reason: OperationRefusal },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** sent → unconfirmed, to be looked at again at `dueAt`. */
  markUnconfirmed(
    id: ConfirmationId,
    unconfirmed: { readonly dueAt: number; readonly reason: UnconfirmedReason },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** Leaves an unconfirmed operation to a manager, and says why; it is not looked for any more. */
  markNeedsDecision(id: ConfirmationId, audit: AuditEntry, reason?: UnconfirmedReason): Promise<void>;

  /** Takes the lease of one operation. False when another owner has it. */
  lease(id: ConfirmationId, lease: Lease): Promise<boolean>;
  /** Takes the lease of one operation that is due: not ended, or ended and its actor not notified. */
  leaseDue(lease: Lease): Promise<Operation | undefined>;
  /** Gives the lease back; it becomes due again at `dueAt` (absent: when something else makes it due). */
  release(id: ConfirmationId, owner: string, dueAt?: number): Promise<void>;
  /** Operations of this workspace that are neither settled nor refused, oldest first. */
  listOpen(workspaceId: WorkspaceId): Promise<readonly Operation[]>;
  /** The same of all workspaces, counted. */
  countOpen(): Promise<number>;
  /** Operations of this server, newest first. */
  listOfServer(workspaceId: WorkspaceId, serverId: ServerId, limit: number): Promise<readonly Operation[]>;
  /** Ids that settled creates of this workspace have been given, among these; `after` leaves out older confirmations. */
  listSettledIds(
    workspaceId: WorkspaceId,
    among: readonly ServerId[],
    after?: number,
  ): Promise<readonly ServerId[]>;
  /**
   * The actor was notified of this state; ended operations are not due any more. When it has moved on since,
   * the actor still has to be notified of the new state.
   */
  markNotified(
    notified: Pick<Operation, 'id' | 'state' | 'needsDecision' | 'hasPassword'>,
    at: number,
  ): Promise<void>;
}

/** Root passwords that wait to be saved (docs/design.md 5). Sealed at rest; opened only to be shown to their creator. */
export interface Passwords {
  find(operationId: ConfirmationId): Promise<HeldPassword | undefined>;
  /** Which servers of this workspace have one, newest first; nothing is opened. */
  listHeld(workspaceId: WorkspaceId): Promise<readonly Omit<HeldPassword, 'password'>[]>;
  /** Its creator has asked to see it: it is held for `holdMs` from the first time on. */
  startHold(operationId: ConfirmationId, at: number, holdMs: number): Promise<void>;
  /** Passwords that their creators have not asked to see. */
  countUndelivered(): Promise<number>;
  erase(operationId: ConfirmationId): Promise<boolean>;
  /** Erases those whose time is over. One that its creator has not asked to see never expires. */
  eraseExpired(now: number): Promise<number>;
}

/** A root password that is stored until its creator has saved it. */
export interface HeldPassword {
  readonly operationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly creatorId: UserId;
  readonly serverId: ServerId;
  readonly label: string;
  readonly password: Secret<string>;
  /** Epoch milliseconds; absent until its creator has asked to see it. */
  readonly heldUntil?: number;
}

/** Notifies users of the outcome of what they confirmed. */
export interface OperationNotifier {
  /**
   * Tells the actor how the operation stands, with the root password if one is held. The password is shown ephemerally or
   * not at all; the rest may come as a direct message where no ephemeral message gets through. Never throws.
   */
  notify(operation: Operation, password: HeldPassword | undefined): Promise<{ readonly isNotified: boolean }>;
}

/** What it takes to notify the actor of an operation. */
export interface NotifyPorts {
  readonly system: Pick<System, 'now'>;
  readonly ledger: Pick<Ledger, 'find' | 'markNotified'>;
  readonly passwords: Pick<Passwords, 'find'>;
  readonly operationNotifier: OperationNotifier;
}

/** What it takes to work on an operation while holding its lease. */
export interface LeasePorts {
  readonly system: Pick<System, 'now' | 'newId' | 'sleep'>;
  readonly log: Pick<Log, 'warn'>;
  readonly ledger: Pick<Ledger, 'lease' | 'release'>;
}

/** What it takes to reach the hosting account that was connected when something was confirmed. */
export interface AccountPorts {
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly hostingOf: FindHosting;
}

/** What it takes to carry out a confirmed purchase. */
export interface PaymentPorts extends NotifyPorts, AccountPorts {
  readonly system: LeasePorts['system'];
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly spill: Pick<Spill, 'write' | 'remove'>;
  readonly ledger: NotifyPorts['ledger'] &
    LeasePorts['ledger'] &
    Pick<Ledger, 'findCreateOf' | 'listOpen' | 'markSent' | 'settle' | 'refuse' | 'markUnconfirmed'>;
  /** Creates of one account are sent one at a time (docs/design.md 4.3). */
  readonly locks: Locks;
}

/** What it takes to look for an unconfirmed operation. */
export interface ResolvePorts extends AccountPorts {
  readonly system: Pick<System, 'now'>;
  readonly ledger: Pick<Ledger, 'listSettledIds' | 'settle' | 'refuse' | 'markNeedsDecision'>;
  readonly settings: {
    /** After this many milliseconds an unconfirmed operation is not waited for any longer. */
    readonly unconfirmedMs: number;
  };
}

/** The API's own answer to a paid request: its password exists nowhere else. */
export interface PaidAnswer {
  readonly serverId: ServerId;
  readonly paidUntil?: number;
  readonly password?: Secret<string>;
}

export type SpilledAnswer = PaidAnswer & { readonly operationId: ConfirmationId };

/** Where answers are kept, sealed, that the database can't take (docs/design.md 5.7). */
export interface Spill {
  /** Does nothing when it has an answer of this operation. */
  write(operationId: ConfirmationId, answer: PaidAnswer): Promise<void>;
  /** `unreadable` counts those whose encryption key is missing; they stay. */
  readAll(): Promise<{ readonly answers: readonly SpilledAnswer[]; readonly unreadable: number }>;
  remove(operationId: ConfirmationId): Promise<void>;
}
