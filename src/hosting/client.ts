import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ApiCalls, CallOptions, HostingApi } from '../app/hosting-api.ts';
import type { Secret } from '../domain/secret.ts';
import type { System } from '../system.ts';
import type { CallLimiter } from './call-limiter.ts';
import { type CallReport, type Chain, createChain } from './chain.ts';
import { changePower, createServer, deleteServer, renewServer } from './endpoints.ts';
import { joinLimiters } from './join-limiters.ts';
import { Limiter } from './limit.ts';
import { createTransport, type Transport } from './send.ts';
import { createShare, type Share } from './share.ts';
import type { SharedQueues } from './shared-queue.ts';

export interface HostingOptions {
  /** Base address of the API, with its version (docs/hosting-api.md 9). */
  readonly baseUrl: string;
  /** The timeout of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly system: System;
  /** Requests per minute; 300 unless set (docs/hosting-api.md 8). */
  readonly limit?: number;
  /** The slots that are taken, stored across restarts and shared with other processes. */
  readonly calls: ApiCalls;
  /** Where calls wait if several processes share the slots; closed with the client. */
  readonly queues?: SharedQueues | undefined;
  readonly log?: { warn(fields: object, message: string): void };
  /** Called for every request that was sent, for metrics. */
  readonly onCall?: (report: CallReport) => void;
  /** Used instead of the client's own connections. */
  readonly transport?: Transport;
}

export interface Hosting {
  /**
   * The API of the account behind this key. All users of the same key share its limiter and its reads. Calls made under a
   * limiter's name also go through that limiter, so that two keys of one workspace, which may belong to one account,
   * together stay within 300 requests a minute (docs/design.md 6). While calls wait, each caller gets a fair share.
   */
  of(key: Secret<string>, limiterName?: string, caller?: string): HostingApi;
  /** Refuses waiting calls, lets requests in flight end, closes the connections. */
  close(): Promise<void>;
}

/** Longer than any slot is held, so that no limiter is dropped while it still matters. */
const FORGET_IDLE_MS = 15 * 60_000;

/** Makes the client of the hosting API; one serves all accounts. */
export function createHosting(options: HostingOptions): Hosting {
  const transport = options.transport ?? createTransport(options);
  const accounts = new Accounts(options, transport);
  let closed: Promise<void> | undefined;
  return {
    of(key, limiterName, caller) {
      const name = accountOf(key);
      // Looked up at every call, since an idle account may have been dropped and has to be opened again.
      return createApi(name, caller, () => accounts.get(name, key, limiterName));
    },
    close() {
      accounts.close();
      // Until the last answer, calls keep their places.
      closed ??= transport.close().finally(() => options.queues?.close());
      return closed;
    },
  };
}

interface Account {
  readonly chain: Chain;
  readonly limiter: CallLimiter;
  readonly limiterNames: readonly string[];
}

/** The accounts in use and the limiters: one for each account and one for each name. */
class Accounts {
  readonly #options: HostingOptions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  readonly #open = new Map<string, Account>();
  readonly #limiters = new Map<string, { readonly limiter: Limiter; readonly share: Share }>();

  constructor(options: HostingOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    // Every call that waits for a retry adds a listener: many of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  get(account: string, key: Secret<string>, limiterName: string | undefined): Account {
    const name = limiterName === undefined ? account : `${account} ${limiterName}`;
    const limiterNames = limiterName === undefined ? [account] : [limiterName, account];
    this.#forgetIdle(limiterNames);
    const open = this.#open.get(name) ?? this.#make(account, limiterNames, key);
    this.#open.set(name, open);
    return open;
  }

  close(): void {
    this.#closing.abort();
    for (const { limiter } of this.#limiters.values()) limiter.close();
  }

  #forgetIdle(except: readonly string[]): void {
    for (const [name, { limiter }] of this.#limiters) {
      if (except.includes(name) || !limiter.isIdle(FORGET_IDLE_MS)) continue;
      limiter.close();
      this.#limiters.delete(name);
      for (const [user, { limiterNames }] of this.#open)
        if (limiterNames.includes(name)) this.#open.delete(user);
    }
  }

  #make(account: string, limiterNames: readonly string[], key: Secret<string>): Account {
    const { baseUrl, system, log, onCall = () => {} } = this.#options;
    const limiter = joinLimiters(limiterNames.map((name) => this.#getLimiter(name).limiter));
    const chain = createChain({
      key,
      baseUrl,
      system,
      limiter,
      share: this.#getLimiter(account).share,
      transport: this.#transport,
      closing: this.#closing.signal,
      onCall,
      onUnreadable: (operation, count) => log?.warn({ operation, count }, 'left out what could not be read'),
      onIncomplete: ({ servers, unreadableCount }) =>
        log?.warn({ read: servers.length, unreadableCount }, 'the list of servers is not complete'),
      onFailure: ({ code, details }) => log?.warn({ ...details, code }, 'a call of the hosting API failed'),
    });
    return { chain, limiter, limiterNames };
  }

  #getLimiter(name: string): { readonly limiter: Limiter; readonly share: Share } {
    const { system, calls, timeoutMs, limit = 300, queues } = this.#options;
    const known = this.#limiters.get(name);
    if (known) return known;
    const limiter = new Limiter({ system, calls, account: name, timeoutMs, limit, queues });
    if (this.#closing.signal.aborted) limiter.close();
    const made = { limiter, share: createShare(system) };
    this.#limiters.set(name, made);
    return made;
  }
}

function createApi(name: string, caller: string | undefined, account: () => Account): HostingApi {
  const by = <Options extends CallOptions>(call?: Options) => ({ ...call, caller });
  return {
    account: name,
    fetchCatalog: (call) => account().chain.readCatalog(by(call)),
    fetchServers: (call) => account().chain.readServers(by(call)),
    listServers: async (call) => (await account().chain.readServers(by(call))).servers,
    createServer: (order, call) => account().chain.change(createServer(order), by(call)),
    renewServer: (id, call) => account().chain.change(renewServer(id), by(call)),
    changePower: (action, id, call) => account().chain.change(changePower(action, id), by(call)),
    deleteServer: (id, call) => account().chain.change(deleteServer(id), by(call)),
    budget: () => account().limiter.budget(),
  };
}

/** Derives an account's name from its key, 64 bits of its SHA-256, so that the name can be stored and logged. */
export function accountOf(key: Secret<string>): string {
  return createHash('sha256').update(key.reveal()).digest('hex').slice(0, 16);
}
