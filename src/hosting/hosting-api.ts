import type { Catalog, Order } from '../core/catalog.ts';
import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { PowerAction, Server, ServerList } from '../core/server.ts';

/**
 * Users come before background work, which never takes more than a third of the minute. `payment` comes before both: a
 * payment whose turn had come already, and what it looks up again.
 */
export type Urgency = 'payment' | 'user' | 'background';

/** What is known about a call that waits for the limiter; absent where it is not known. */
export interface Wait {
  /** Its place in the queue: 1 is the next one. */
  readonly position?: number;
  /** About how long it will still wait, in milliseconds: from the times at which slots become free. More urgent calls go before it. */
  readonly estimateMs?: number;
  /** After this time it is refused, and not sent. */
  readonly givesUpInMs?: number;
}

export type OnWait = (wait?: Wait) => void;

export type Freshness = 'shared' | 'recent' | 'fresh';

/** How one call of the hosting API is made. */
export interface CallOptions {
  /**
   * `shared` (default) may reuse a very recent answer; `recent` one of the last half minute, for menus that search;
   * `fresh` sends a new request. None of them reuses an answer from before a change of this process. Reads only.
   */
  readonly freshness?: Freshness;
  readonly urgency?: Urgency;
  /** Called once when the call has been waiting 5 s for the limiter, so that the user gets a message. */
  readonly onWait?: OnWait;
}

/** How a paid call is made. */
export interface PaidCallOptions extends CallOptions {
  /**
   * Awaited when the limiter has let the call through, right before the first byte leaves; if it rejects, nothing is sent.
   * It must not call the hosting API: all slots may be held by calls that wait like this.
   */
  readonly beforeSend: () => Promise<void>;
}

/** The answer to a create, with everything that proves it. */
export interface Created {
  readonly id: ServerId;
  /** '' if the answer named none. */
  readonly state: string;
  readonly rootPassword: Secret<string>;
}

/** The answer to a renewal. It proves that a month was paid if `paidUntil` is later than before. */
export interface Renewed {
  readonly id: ServerId;
  /** Epoch milliseconds. */
  readonly paidUntil: number;
}

/** A power action that the API accepted. */
export interface AcceptedPower {
  /** Present if the answer proves the action. */
  readonly state?: string;
  /** The API's own words, in place of a state. */
  readonly words?: string;
}

/**
 * The hosting API of one account (docs/hosting-api.md 4).
 * Every method @throws HostingError; only `rate_limited` and `not_sent` are retried inside.
 */
export interface HostingApi {
  /** The name of its key (`Accounts`). */
  readonly account: string;
  fetchCatalog(options?: CallOptions): Promise<Catalog>;
  /** Reads every page of the list, and reports whether that is all of it (`extent`). */
  fetchServers(options?: CallOptions): Promise<ServerList>;
  /** Money effect: pays the first month. The password is in this answer and nowhere else. */
  createServer(order: Order, options: PaidCallOptions): Promise<Created>;
  /** Money effect: pays one more month. */
  renewServer(id: ServerId, options: PaidCallOptions): Promise<Renewed>;
  changePower(action: PowerAction, id: ServerId, options?: CallOptions): Promise<AcceptedPower>;
  /** True if the answer proves it; otherwise only a list can. Money effect: the rest of the paid month is lost. */
  deleteServer(id: ServerId, options?: CallOptions): Promise<boolean>;
  /** How much of the minute's budget is taken, and how many calls wait. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
}

/**
 * Finds the client of the account behind a workspace's key. All keys of a workspace, and all workspaces with one key, stay
 * within one minute's limit: they may belong to one account (docs/design.md 6). While calls wait, each `caller` gets a fair
 * share, and may have only so many waiting: more are refused with `too_many_waiting`.
 */
export type FindHosting = (key: Secret<string>, workspaceId: WorkspaceId, caller?: UserId) => HostingApi;

/**
 * Which API keys open one account (docs/design.md 4.3). A key is known by its name, a keyed hash; keys of one name are the same
 * key. Keys of different names open one account only if it was proven that they do.
 */
export interface Accounts {
  /** The name of a key, which can be stored and logged. */
  nameOf(key: Secret<string>): string;
  /** The account that keys of this name open: one of the names of its keys. */
  find(name: string): Promise<string>;
  /** The workspaces that are connected with a key of this name. */
  listWorkspaces(name: string): Promise<readonly WorkspaceId[]>;
  /**
   * Stores some of the servers that a key has just shown, in place of those before, and returns the names of keys that have
   * last shown one of them (the same ID, label and IPv4 address) and don't open the same account as far as is known. That is
   * a sign, not a proof: what they have shown may be gone. Undefined where no workspace has the key.
   */
  see(name: string, servers: readonly SeenServer[]): Promise<readonly string[] | undefined>;
  /** Makes the accounts of two keys one, with everything that was stored for either. False if they were. */
  join(name: string, other: string): Promise<boolean>;
}

/** What one server is recognized by under two keys. */
export type SeenServer = Required<Pick<Server, 'id' | 'label' | 'ipv4'>>;

/** How many slots an account has, and how long a slot may be held. */
export interface SlotLimits {
  readonly limit: number;
  /** The longest time of a call, plus the minute after its answer. */
  readonly maxHoldMs: number;
}

/**
 * The slots of an account's minute that are taken by any process on this store (docs/design.md 6). The owner of a slot gives it
 * back. If the owner died, the slot ends once it is older than a slot can be held, by the database's clock.
 */
export interface ApiCalls {
  /**
   * Takes a slot, durably, unless `limit` are taken; those in `freed` are given back first, in the same commit, and so are the
   * account's slots that were held for too long. Calls made together share one commit.
   */
  take(
    slot: { readonly id: string; readonly account: string },
    limits: SlotLimits,
    freed?: readonly string[],
  ): Promise<boolean>;
  /** Renews a taken slot from now on, under a new ID. False if it was no longer taken. */
  takeAgain(old: string, id: string): Promise<boolean>;
  /** Gives slots back; unknown ones are no error. */
  release(ids: readonly string[]): Promise<void>;
  /** The IDs of all slots that are stored, including those that the next `take` ends. */
  listTaken(account: string): Promise<readonly string[]>;
}
