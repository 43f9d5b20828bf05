import type { Catalog, Order } from '../core/catalog.ts';
import type { AccountNames, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { PowerAction, ServerList } from '../core/server.ts';

/**
 * The priority of a call in the limiter (docs/design.md 6.3). `payment` comes first: a payment whose turn had come before, and what
 * it looks up again. `background` comes last, and has at most 100 of the 300 slots.
 */
export type Urgency = 'payment' | 'user' | 'background';

export type OnWait = () => void;

/** How old the answer to a read may be; see `CallOptions`. */
export type Freshness = 'shared' | 'recent' | 'fresh';

export interface CallOptions {
  /**
   * For reads. `shared` (default) may reuse an answer of the last 2 s (catalog: 5 minutes); `recent` one of the last 30 s, for
   * menus that search; `fresh` sends a new request. None reuses an answer from before a change that this process made.
   */
  readonly freshness?: Freshness;
  /** Default: `user`. */
  readonly urgency?: Urgency;
  /** Called at most once, when the call has waited 5 s for the limiter or has to wait that long before a retry. */
  readonly onWait?: OnWait;
}

/** How a call is made that may be sent only once: a paid one, or a delete. */
export interface PaidCallOptions extends CallOptions {
  /**
   * Awaited before each try, once the call has its slot and before its first byte leaves; if it rejects, nothing is sent. It must
   * not call the hosting API: all slots may be held by calls that wait like this.
   */
  readonly beforeSend: () => Promise<void>;
}

/** The answer to a create that proves it (docs/hosting-api.md 4.12). */
export interface Created {
  readonly id: ServerId;
  /** '' if the answer has none. */
  readonly state: string;
  readonly rootPassword: Secret<string>;
}

/** The answer to a renewal. It proves the payment only if `paidUntil` is later than it was before. */
export interface Renewed {
  readonly id: ServerId;
  /** Epoch milliseconds. */
  readonly paidUntil: number;
}

/** A power action that the API accepted (docs/hosting-api.md 4.12). */
export interface AcceptedPower {
  /** The state in the answer; absent if the answer doesn't prove the action. */
  readonly state?: string;
  /** The one sentence in an answer that doesn't prove the action, to be quoted. */
  readonly words?: string;
}

/**
 * The hosting API of one account (docs/hosting-api.md 4). Retries only `rate_limited` and `not_sent` (7.7).
 * @throws HostingError with any code; Refusal `too_many_waiting`, `waited_too_long`, `shutting_down` if nothing was sent; what
 * the store throws. `budget` throws nothing.
 */
export interface HostingApi {
  readonly account: AccountNames;
  fetchCatalog(options?: CallOptions): Promise<Catalog>;
  /** Reads every page of the list of servers; `extent` says whether that is all of it. */
  fetchServers(options?: CallOptions): Promise<ServerList>;
  /** Creates a server. Money effect: pays the first month. Only this answer has the root password. */
  createServer(order: Order, options: PaidCallOptions): Promise<Created>;
  /** Renews a server. Money effect: pays one more month. */
  renewServer(id: ServerId, options: PaidCallOptions): Promise<Renewed>;
  /** Starts, stops or reboots a server. Money effect: none. */
  changePower(action: PowerAction, id: ServerId, options?: CallOptions): Promise<AcceptedPower>;
  /** Deletes a server; false if only a list can prove that. Money effect: the rest of the paid month is lost. */
  deleteServer(id: ServerId, options: PaidCallOptions): Promise<boolean>;
  /** Returns how many of the minute's slots are taken, and how many calls wait. Sends nothing. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
}

/**
 * Opens the account behind a workspace's key, without a request. All workspaces with one key, and all keys of a workspace, share
 * one limit, since they may belong to one account (docs/design.md 6.2). At most 25 calls of one `caller` may wait, besides reads:
 * more are refused with `too_many_waiting`.
 */
export type FindHosting = (key: Secret<string>, workspaceId: WorkspaceId, caller?: UserId) => HostingApi;

export interface SlotLimits {
  readonly limit: number;
  /** How long a slot can be held: the longest time of a call, plus the minute after its answer. */
  readonly maxHoldMs: number;
}

/**
 * The taken slots, shared by all processes on this store (docs/design.md 6.6, 6.7). A slot counts for its account and for its
 * workspace. Its owner gives it back. The slot of a dead owner ends once it is older than a slot can be held, by the database's
 * clock.
 */
export interface ApiCalls {
  /**
   * Takes a slot, durably; false if the account, by all its names, or the workspace has taken `limit`. The same commit first gives
   * back the slots in `freed`. Calls made together share one commit.
   */
  take(
    slot: { readonly id: string; readonly account: AccountNames; readonly workspaceId: WorkspaceId },
    limits: SlotLimits,
    freed?: readonly string[],
  ): Promise<boolean>;
  /** Gives slots back, and removes those of dead owners; unknown ones are no error. */
  release(ids: readonly string[], maxHoldMs: number): Promise<void>;
  /** Lists the IDs of all stored slots of an account, by one of its names, or of a workspace. */
  listTaken(name: string): Promise<readonly string[]>;
}
