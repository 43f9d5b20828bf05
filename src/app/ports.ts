import type { Approval, Card } from '../domain/approval.ts';
import type { Catalog, Order } from '../domain/catalog.ts';
import type { Money } from '../domain/money.ts';
import type { Operation, Purchase } from '../domain/operation.ts';
import type { Secret } from '../domain/secret.ts';
import type { PowerAction, Server, ServerList } from '../domain/server.ts';
import type { AccessRequest, AccessRequests, Approvals, Grants, Workspaces } from './access-ports.ts';

/** How one call of the hosting API is made. */
export interface CallOptions {
  /** `shared` (default) may answer from a moment ago; `fresh` starts a request of its own. Reads only. */
  readonly freshness?: 'shared' | 'fresh';
  /** People come before background work, which also never takes more than a third of the minute. */
  readonly urgency?: 'person' | 'background';
  /** Called once when the call has been waiting 5 s for the limiter, so that the person can be told. */
  readonly onWait?: () => void;
}

/** How a paid call is made. */
export interface PaidCallOptions extends CallOptions {
  /** Awaited when the limiter has let the call through, right before the first byte leaves. */
  readonly beforeSend: () => Promise<void>;
}

/**
 * The hosting API of one account (API document, section 4).
 * Every method @throws HostingError; only `rate_limited` and `not_sent` are retried inside.
 */
export interface HostingApi {
  /** A short name of the account behind the key (not the key): creates of one account run one at a time. */
  readonly account: string;
  fetchCatalog(options?: CallOptions): Promise<Catalog>;
  /** Reads every page of the list, and says whether that was all of it. */
  fetchServers(options?: CallOptions): Promise<ServerList>;
  /** `fetchServers` without what it says of itself: for showing only, nothing may be concluded from what is absent. */
  listServers(options?: CallOptions): Promise<readonly Server[]>;
  /**
   * Money effect: pays the first month. The password is in this answer and nowhere else. Where none was recognized
   * though the answer holds more than an id and a state, that answer comes as `sealedAnswer`, for its creator alone.
   */
  createServer(
    order: Order,
    options: PaidCallOptions,
  ): Promise<{ id: number; state: string; rootPassword?: Secret<string>; sealedAnswer?: Secret<string> }>;
  /** Money effect: pays one more month. */
  renewServer(id: number, options: PaidCallOptions): Promise<{ id: number; paidUntil?: number }>;
  changePower(action: PowerAction, id: number, options?: CallOptions): Promise<{ id: number; state: string }>;
  /** Money effect: the rest of the paid month is lost. */
  deleteServer(id: number, options?: CallOptions): Promise<{ id: number; state: string }>;
  /** How much of the minute's budget is taken, and how many calls wait. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
}

/** One try of something, allowed or not. Ids only, no secrets, no names. */
export interface AuditEntry {
  readonly at: number;
  readonly workspaceId: string;
  readonly actorId: string;
  readonly channelId?: string;
  readonly surface: 'command' | 'button' | 'modal' | 'home' | 'page' | 'background' | 'command_line';
  readonly action: string;
  /** Entries of one act share it: `started`, then what became of it. */
  readonly actId: string;
  readonly serverId?: number;
  readonly label?: string;
  readonly outcome: 'started' | 'done' | 'failed' | 'denied' | 'in_doubt';
  readonly code?: string;
  readonly operationId?: string;
  readonly money?: Money;
}

/** An entry as it is kept: numbered 1, 2, 3 … in its workspace, and signed for that place. */
export type KeptEntry = AuditEntry & {
  readonly id: string;
  readonly seq: number;
  readonly signature: string;
};

export interface AuditFilter {
  readonly workspaceId: string;
  readonly actorId?: string;
  /** Matches a label or an id. */
  readonly server?: string;
  /** Matches the id alone: another server's label may be the same digits. */
  readonly serverId?: number;
  readonly outcome?: AuditEntry['outcome'];
  /** Epoch milliseconds; `since` is the first one that counts, `until` the first one that does not any more. */
  readonly since?: number;
  readonly until?: number;
  readonly before?: string;
  readonly limit: number;
}

/** The first entry of a chain that is not as it was written; `seq` is where it stands, or stood. */
export interface AuditFault {
  readonly seq: number;
  readonly id?: string;
  readonly problem: 'changed' | 'removed' | 'reordered' | 'head' | 'key_missing';
  /** The problem in a sentence. */
  readonly words: string;
}

export type AuditVerdict =
  | {
      readonly ok: true;
      readonly entries: number;
      /** Numbers of the oldest and the newest entry; 0 when there is none. */
      readonly from: number;
      readonly to: number;
      readonly pruned?: { readonly count: number; readonly at: number };
    }
  | ({ readonly ok: false } & AuditFault);

export interface AuditLog {
  add(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter): Promise<readonly KeptEntry[]>;
  /** Oldest first, page by page. */
  read(filter: Omit<AuditFilter, 'before' | 'limit'>): AsyncIterable<KeptEntry>;
  /** Goes through the chain of a workspace; stops at the first fault. */
  verify(workspaceId: string): Promise<AuditVerdict>;
  /**
   * Removes what is older, in every workspace, and audits that. What is not as it was written is kept, and all that
   * came after it: it is evidence.
   */
  prune(
    before: number,
    by: Pick<AuditEntry, 'at' | 'actorId' | 'surface'>,
  ): Promise<readonly { workspaceId: string; removed: number; fault?: AuditFault }[]>;
  /** Workspaces that have entries, or had. */
  listWorkspaces(): Promise<readonly string[]>;
}

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

/** The ledger of paid operations (DESIGN 4). Every method is one durable transaction. */
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
   * prepared → sent, committed before the request leaves. False when it no longer stands at prepared or sent,
   * or when somebody else holds its lease.
   */
  markSent(
    id: string,
    sent: { readonly at: number; readonly owner: string; readonly knownIds: readonly number[] },
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
  doubt(
    id: string,
    doubt: { readonly at: number; readonly dueAt: number; readonly reason: string },
    audit: AuditEntry,
  ): Promise<boolean>;
  /** Marks an operation in doubt as one that a person has to look at, and why; it is not looked for any more. */
  needPerson(id: string, audit: AuditEntry, reason?: string): Promise<void>;

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
  markTold(told: Pick<Operation, 'id' | 'state' | 'needsPerson' | 'hasPassword'>, at: number): Promise<void>;
}

/** Root passwords that wait to be saved (DESIGN 5). Sealed at rest; opened only to be shown to their creator. */
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

/** `setAt`: what was confirmed before then was meant for the account of an earlier key (`app/hosting-since.ts`). */
export interface HeldKey {
  readonly key: Secret<string>;
  readonly setBy: string;
  readonly setAt: number;
}

/** The account's API key of each workspace, sealed and bound to that workspace. */
export interface ApiKeys {
  /** @throws Refusal `key_unreadable` when the keyring has lost the key that sealed it */
  find(workspaceId: string): Promise<HeldKey | undefined>;
  put(workspaceId: string, key: Secret<string>, setBy: string, at: number): Promise<void>;
  remove(workspaceId: string): Promise<boolean>;
  listWorkspaces(): Promise<readonly string[]>;
}

/** The one-time links of `/vps connect`. Only a hash of the token is stored. */
export interface ConnectLinks {
  put(link: ConnectLink): Promise<void>;
  find(tokenHash: string): Promise<ConnectLink | undefined>;
  /** Takes the link for one try. False when it was used, or is being used, or its tries are over. */
  take(tokenHash: string, now: number): Promise<boolean>;
  /** The try failed: the link may be used again. */
  giveBack(tokenHash: string): Promise<void>;
  removeExpired(now: number): Promise<void>;
}

export interface ConnectLink {
  readonly tokenHash: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly channelId?: string;
  readonly expiresAt: number;
  readonly isUsed?: boolean;
}

/** Signed requests that changed something, remembered as long as Slack's signature lets them be replayed. */
export interface SeenRequests {
  /** True the first time, false ever after. */
  add(requestId: string, at: number): Promise<boolean>;
  removeBefore(at: number): Promise<void>;
}

/** `response_url`s, sealed: each is a capability to post for 30 minutes, five times (Slack, "Handling user interaction"). */
export interface ReplyUrls {
  keep(id: string, workspaceId: string, url: Secret<string>, until: number): Promise<void>;
  /** Takes one of the five uses; undefined when none is left, or it is too old. */
  use(id: string, now: number): Promise<Secret<string> | undefined>;
  removeExpired(now: number): Promise<void>;
}

/** The slots of an account's minute that are taken, by every process on this store (docs/design.md 6). No clock decides. */
export interface ApiCalls {
  /** Takes a slot, durably, unless `limit` are taken. Calls made together share one commit. `at` is for people who look. */
  take(
    slot: { readonly id: string; readonly account: string; readonly at: number },
    limit: number,
  ): Promise<boolean>;
  /** Gives slots back; unknown ones are no error. */
  release(ids: readonly string[]): Promise<void>;
  /** The ids of all slots that are taken. */
  listTaken(account: string): Promise<readonly string[]>;
}

/** Everything that is kept. */
export interface Store {
  readonly workspaces: Workspaces;
  readonly apiKeys: ApiKeys;
  readonly grants: Grants;
  readonly accessRequests: AccessRequests;
  readonly approvals: Approvals;
  readonly ledger: Ledger;
  readonly passwords: Passwords;
  readonly audit: AuditLog;
  readonly connectLinks: ConnectLinks;
  readonly seenRequests: SeenRequests;
  readonly replyUrls: ReplyUrls;
  readonly apiCalls: ApiCalls;
  /** Resolves when the engine answers; for `/readyz`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Tells people what became of what they confirmed, wherever they can still be reached. */
export interface Teller {
  /**
   * Tells the actor how the operation stands: settled (with the password, if one is held), refused, in doubt,
   * or that a person has to look. A password is shown ephemerally or not at all; the rest may come as a direct
   * message where nothing ephemeral gets through. Never throws.
   */
  tellOperation(
    operation: Operation,
    password: HeldPassword | undefined,
  ): Promise<{ readonly isTold: boolean; readonly isPasswordShown: boolean }>;
  /** Asks for an approval, in the channel of the settings or these people directly; the cards that got through. Never throws. */
  askApprovers(approval: Approval, approvers: readonly string[]): Promise<readonly Card[]>;
  /** Shows in its cards how an approval stands now. Never throws. */
  showApproval(approval: Approval): Promise<void>;
  /** Tells the requester what became of it, or that nobody could be asked; true when that got through. Never throws. */
  tellApproval(approval: Approval): Promise<boolean>;
  /** Asks these owners for a role, directly: a reason may be private; the cards that got through. Never throws. */
  askOwners(request: AccessRequest, owners: readonly string[]): Promise<readonly Card[]>;
  /** Shows in its cards how a request for a role stands now. Never throws. */
  showRequest(request: AccessRequest): Promise<void>;
  /** Tells the asker what became of it; true when that got through. Never throws. */
  tellAsker(request: AccessRequest): Promise<boolean>;
}
