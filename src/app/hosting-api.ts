import type { Catalog, Order } from '../domain/catalog.ts';
import type { ServerId } from '../domain/ids.ts';
import type { Secret } from '../domain/secret.ts';
import type { PowerAction, Server } from '../domain/server.ts';

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
  listServers(options?: CallOptions): Promise<readonly Server[]>;
  /** Money effect: pays the first month. The password is in this answer and nowhere else. */
  createServer(
    order: Order,
    options: PaidCallOptions,
  ): Promise<{ id: ServerId; state: string; rootPassword?: Secret<string> }>;
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

/** When requests were sent, so that a restarted process knows what the last minute has already used. */
export interface ApiCalls {
  /** Durable when it resolves; calls made together share one commit. */
  add(account: string, at: number): Promise<void>;
  listSince(account: string, at: number): Promise<readonly number[]>;
  removeBefore(at: number): Promise<void>;
}
