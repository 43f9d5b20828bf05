import type { AuditEntry } from '../core/audit-entry.ts';
import type { AccountNames, ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { LockOwner } from '../core/locks.ts';
import type { Money } from '../core/money.ts';
import type { Secret } from '../core/secret.ts';
import type { DeleteOperation, DeleteReason, NewDelete } from '../servers/deletion.ts';
import type { Budget, Excess, Spent } from './budget.ts';
import type { Operation, OperationRefusal, Purchase, UnconfirmedReason } from './operation.ts';
import type { Prices } from './prices.ts';

export interface NewOperation {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  readonly purchase: Purchase;
  readonly price?: Money;
  readonly at: number;
  /** The first name of the key that it was confirmed under, where that was earlier than now; by default the key of now. */
  readonly account?: string;
}

/** The settings, the key and the grants that permit a payment, as text: of two that are equal, none has changed. */
export type Permit = string;

export type Prepared =
  | { readonly kind: 'new' | 'known'; readonly operation: Operation }
  /** Another workspace with the same key has ordered the same month. */
  | { readonly kind: 'claimed_elsewhere' }
  | ({ readonly kind: 'over_budget' } & Excess);

/**
 * The ledger: purchases and deletes (docs/design.md 4). Every method is one durable transaction. What lists, finds or adds up
 * speaks of purchases alone, unless its name says otherwise; the changes of a state are the same for both.
 */
export interface Ledger extends Prices {
  /** Writes a confirmed delete, with the beginning of its act in the audit. False if that ID was confirmed before. */
  confirmDelete(confirmed: NewDelete): Promise<boolean>;
  findDelete(id: ConfirmationId): Promise<DeleteOperation | undefined>;
  /** Ends an unconfirmed delete, of which nothing more can be found out: it stays unconfirmed. */
  closeDelete(id: ConfirmationId, at: number): Promise<void>;
  /**
   * Writes a confirmation. When the same id was written before, or an operation that was not refused has the same claim
   * (the same month of the same server), that one is returned instead, unless it is another workspace's.
   * What it would spend is compared with the budget in the same transaction: over it, nothing is written.
   */
  prepare(operation: NewOperation, budget?: Budget): Promise<Prepared>;
  /** What confirmations of this workspace since then have paid or may still pay, and this user's part of it. */
  sumSpent(workspaceId: WorkspaceId, actorId: UserId, since: number): Promise<Spent>;
  find(id: ConfirmationId): Promise<Operation | undefined>;
  /** The settled create that made this server with this app: only its order names the plan, and so the price. */
  findCreateOf(workspaceId: WorkspaceId, serverId: ServerId): Promise<Operation | undefined>;
  /** What the database says at that time about whether an order of this workspace may be paid, for `markSent` to compare. */
  readPermit(workspaceId: WorkspaceId, at: number): Promise<Permit>;
  /**
   * prepared → sent, committed before the request leaves; each retry of the same owner is a new attempt. `refused` when
   * it has ended, when its send-by time has passed (for a retry, too) or the clock was set back, when another owner sent it
   * or has its job, or when the lock is no longer this owner's. `outdated` when the permit is not that of now, or when an order
   * of the account, of any workspace, is in its way: a create that is sent and has no outcome yet, an unconfirmed one of
   * the same label, a renewal of the same month that was sent.
   */
  markSent(
    id: ConfirmationId,
    sent: {
      readonly at: number;
      readonly owner: string;
      readonly account: AccountNames;
      readonly knownIds: readonly ServerId[];
      readonly permit: Permit;
      readonly lock?: LockOwner;
    },
  ): Promise<'sent' | 'refused' | 'outdated'>;
  /**
   * sent | unconfirmed → settled, with the sealed password and the audit entry in the same transaction.
   * The API's own answer, however late, also corrects what others concluded without it: a refusal, or a
   * settlement that had no password. Otherwise false when another create of the account has made this server, and, unless a
   * manager decided, also when one of any account may have: one with the same label that has this ID or is being sent.
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
      /** It was found after it had been refused without proof: only such an operation is settled by this. */
      readonly isLate?: boolean;
      /** Who decided it. */
      readonly decidedBy?: UserId;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /**
   * prepared | sent | unconfirmed → refused. Gives its claim back: the same month can be confirmed again. What was sent
   * is refused only by its own sender's proof; what is unconfirmed, by that or by a manager's decision.
   */
  refuse(
    id: ConfirmationId,
    refused: {
      readonly at: number;
      readonly reason: OperationRefusal | DeleteReason;
      /** Who had the proof. */
      readonly owner?: string;
      /** Who decided it. */
      readonly decidedBy?: UserId;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** sent → unconfirmed. */
  markUnconfirmed(
    id: ConfirmationId,
    unconfirmed: {
      readonly reason: UnconfirmedReason | DeleteReason;
      /** What came and could not be used: stored, and handed to its creator when the server is found. */
      readonly sealedAnswer?: Secret<string>;
    },
    audit: AuditEntry,
  ): Promise<boolean>;
  /**
   * Keeps an unclear answer to a create that came after its operation had left `sent`: until a server is found, or as
   * the password of one that was found without it. It may hold a root password that exists nowhere else.
   */
  keepAnswer(id: ConfirmationId, answer: Secret<string>, at: number): Promise<void>;
  /** Leaves an unconfirmed operation to a manager, once, and says why; it is looked for all the same. */
  markNeedsDecision(id: ConfirmationId, audit: AuditEntry, reason?: UnconfirmedReason): Promise<void>;
  /** Adds time that has passed while the app was looking for it. */
  addLooked(id: ConfirmationId, ms: number): Promise<void>;

  /** Takes the job of one operation, as a process that works on it does: for tests. Times in epoch milliseconds. */
  lease(
    id: ConfirmationId,
    lease: { readonly owner: string; readonly now: number; readonly until: number },
  ): Promise<boolean>;
  /** Gives it back, as a process that ends does: for tests. */
  release(id: ConfirmationId, owner: string): Promise<void>;
  /**
   * Operations of this workspace that are neither settled nor refused, oldest first; without those that only a newer
   * version of the app can read.
   */
  listOpen(workspaceId: WorkspaceId): Promise<readonly Operation[]>;
  /** The same of all workspaces, counted. */
  countOpen(): Promise<number>;
  /** Operations of this server, newest first. */
  listOfServer(workspaceId: WorkspaceId, serverId: ServerId, limit: number): Promise<readonly Operation[]>;
  /** Renewals of this server of the account, in any workspace, and of this workspace with any key; newest first. */
  listRenewals(
    account: AccountNames,
    workspaceId: WorkspaceId,
    serverId: ServerId,
  ): Promise<readonly Operation[]>;
  /**
   * Ids that settled creates of this account, in any workspace, have been given, among these; with `orOf`, also those of
   * any account that this workspace has used.
   */
  listSettledIds(
    account: AccountNames,
    among: readonly ServerId[],
    orOf?: WorkspaceId,
  ): Promise<readonly ServerId[]>;
  /** Creates of this account or workspace that may have made a server that is not known: open, or ended without proof. */
  listUnresolvedCreates(account: AccountNames, workspaceId: WorkspaceId): Promise<readonly Operation[]>;
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

/** The API's own answer to a paid request: its password exists nowhere else. */
export interface PaidAnswer {
  /** Absent if it proves nothing: then `password` is the whole answer to a create. */
  readonly serverId?: ServerId;
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

/** Notifies users of the outcome of what they confirmed. */
export interface OperationNotifier {
  /** Announces that it is being carried out; the outcome replaces that. Never throws, and the order doesn't wait for it. */
  announceStart(operation: Operation): void;
  /**
   * Reports the operation's state to the actor, with the root password if one is held. The password is shown ephemerally or
   * not at all; the rest may come as a direct message where no ephemeral message gets through. `reported` is the new
   * server's state, as the API has just reported it. Never throws.
   */
  notify(
    operation: Operation,
    password: HeldPassword | undefined,
    reported?: string,
  ): Promise<{ readonly isNotified: boolean }>;
  /** Tells the actor that the order has not been sent yet, since others come first. Never throws. */
  notifyQueued(operation: Operation): Promise<void>;
  /** Tells the actor that the store fails, so that the order may still go through or not. Never throws. */
  notifyUnsaved(operation: Operation): Promise<void>;
  /** Tells owners that the balance was too low for it. Never throws. */
  notifyLowBalance(operation: Operation, owners: readonly UserId[]): Promise<void>;
}
