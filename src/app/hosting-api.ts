import type { Catalog, Order } from '../domain/catalog.ts';
import type { ServerId } from '../domain/ids.ts';
import type { Secret } from '../domain/secret.ts';
import type { PowerAction, Server, ServerList } from '../domain/server.ts';

/** How one call of the hosting API is made. */
export interface CallOptions {
  /** `shared` (default) may answer from a moment ago; `fresh` starts a request of its own. Reads only. */
  readonly freshness?: 'shared' | 'fresh';
  /** Users come before background work, which also never takes more than a third of the minute. */
  readonly urgency?: 'person' | 'background';
  /** Called once when the call has been waiting 5 s for the limiter, so that the user can be told. */
  readonly onWait?: () => void;
}

/** How a paid call is made. */
export interface PaidCallOptions extends CallOptions {
  /** Awaited when the limiter has let the call through, right before the first byte leaves. */
  readonly beforeSend: () => Promise<void>;
}

/**
 * The hosting API of one account (docs/hosting-api.md 4).
 * Every method @throws HostingError; only `rate_limited` and `not_sent` are retried inside.
 */
export interface HostingApi {
  /** A short name of the account behind the key (not the key): creates of one account are sent one at a time. */
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
  ): Promise<{ id: ServerId; state: string; rootPassword?: Secret<string>; sealedAnswer?: Secret<string> }>;
  /** Money effect: pays one more month. */
  renewServer(id: ServerId, options: PaidCallOptions): Promise<{ id: ServerId; paidUntil?: number }>;
  changePower(
    action: PowerAction,
    id: ServerId,
    options?: CallOptions,
  ): Promise<{ id: ServerId; state: string }>;
  /** Money effect: the rest of the paid month is lost. */
  deleteServer(id: ServerId, options?: CallOptions): Promise<{ id: ServerId; state: string }>;
  /** How much of the minute's budget is taken, and how many calls wait. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
}

/** Finds the client of the account behind a key. */
export type FindHosting = (key: Secret<string>) => HostingApi;

/** The slots of an account's minute that are taken, by every process on this store (docs/design.md 6). No clock decides. */
export interface ApiCalls {
  /**
   * Takes a slot, durably, unless `limit` are taken; what is in `freed` is given back first, in the same commit. Calls
   * made together share one commit. `at` is for people who look.
   */
  take(
    slot: { readonly id: string; readonly account: string; readonly at: number },
    limit: number,
    freed?: readonly string[],
  ): Promise<boolean>;
  /** Gives slots back; unknown ones are no error. */
  release(ids: readonly string[]): Promise<void>;
  /** The ids of all slots that are taken. */
  listTaken(account: string): Promise<readonly string[]>;
}
