import { setMaxListeners } from 'node:events';
import type { AccountNames, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { System } from '../system.ts';
import { type CallReport, type Chain, createChain } from './chain.ts';
import { changePower, createServer, deleteServer, renewServer } from './endpoints.ts';
import type { ApiCalls, CallOptions, HostingApi } from './hosting-api.ts';
import { type CallBy, Limiter } from './limiter.ts';
import { createTransport, type Transport } from './send.ts';
import { createShare } from './share.ts';

/** What the client is made with. */
export interface HostingOptions {
  /** The base address of the API, with its version (docs/hosting-api.md 9.1). */
  readonly baseUrl: string;
  /** The timeout of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly system: System;
  /** Requests per minute; 300 unless set (docs/hosting-api.md 8.1). */
  readonly limit?: number;
  /** The taken slots, stored across restarts and shared with other processes. */
  readonly calls: ApiCalls;
  /** Names a key (`Vault.namesOf`). */
  readonly namesOf: (key: Secret<string>) => AccountNames;
  readonly log?: { warn(fields: object, message: string): void };
  /** Called after every attempt at a request, for metrics. */
  readonly onCall?: (report: CallReport) => void;
  /** Used instead of the client's own connections. */
  readonly transport?: Transport;
}

/** The client of the hosting API. It serves all accounts. */
export interface Hosting {
  /**
   * Opens the API of the account behind this key, without a request. All users of a key share its reads and its limiter. Calls also
   * count for their workspace: two of its keys, which may belong to one account, together stay within 300 requests a minute
   * (docs/design.md 6.2). While calls wait, each `caller` gets a fair share.
   */
  of(key: Secret<string>, workspaceId?: WorkspaceId, caller?: UserId): HostingApi;
  /** Refuses waiting calls, lets requests in flight end, closes the connections. */
  close(): Promise<void>;
}

/** When an unused limiter is dropped: longer than any slot is held, so that no slot is forgotten. */
const FORGET_IDLE_MS = 15 * 60_000;
/** How often the app looks for unused limiters: at every call would be too often with many accounts. */
const LOOK_FOR_IDLE_MS = 60_000;

/** Creates the client of the hosting API. Sends nothing and opens no connection yet. */
export function createHosting(options: HostingOptions): Hosting {
  const transport = options.transport ?? createTransport(options);
  const accounts = new OpenAccounts(options, transport);
  let closed: Promise<void> | undefined;
  return {
    of(key, workspaceId, caller) {
      const account = options.namesOf(key);
      // Looked up at every call, since an idle account may have been dropped and has to be opened again.
      const open = () => accounts.get(account, key);
      return createApi(account, { caller, workspaceId }, open);
    },
    close() {
      accounts.close();
      closed ??= transport.close();
      return closed;
    },
  };
}

/** What is shared by all who use one key. */
interface Account {
  readonly limiter: Limiter;
  readonly chain: Chain;
}

/** The accounts in use, by the first names of their keys. */
class OpenAccounts {
  readonly #options: HostingOptions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  readonly #open = new Map<string, Account>();
  #lookedForIdleAt = Number.NEGATIVE_INFINITY;

  constructor(options: HostingOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    // Every call that waits for a retry adds a listener, so many of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  get(account: AccountNames, key: Secret<string>): Account {
    const [name] = account;
    this.#forgetIdle(name);
    const open = this.#open.get(name) ?? this.#make(account, key);
    this.#open.set(name, open);
    return open;
  }

  close(): void {
    this.#closing.abort();
    for (const { limiter } of this.#open.values()) limiter.close();
  }

  #forgetIdle(except: string): void {
    const now = this.#options.system.elapsed();
    if (now - this.#lookedForIdleAt < LOOK_FOR_IDLE_MS) return;
    this.#lookedForIdleAt = now;
    for (const [name, { limiter }] of this.#open) {
      if (name === except || !limiter.isIdle(FORGET_IDLE_MS)) continue;
      limiter.close();
      this.#open.delete(name);
    }
  }

  #make(account: AccountNames, key: Secret<string>): Account {
    const { baseUrl, timeoutMs, system, limit = 300, calls, log, onCall = () => {} } = this.#options;
    const limiter = new Limiter({ system, calls, account, timeoutMs, limit });
    if (this.#closing.signal.aborted) limiter.close();
    const chain = createChain({
      key,
      baseUrl,
      system,
      limiter,
      share: createShare(system),
      transport: this.#transport,
      closing: this.#closing.signal,
      onCall,
      onUnreadable: (operation, count) => log?.warn({ operation, count }, 'left out what could not be read'),
      onIncomplete: ({ servers, unreadableCount }) =>
        log?.warn({ read: servers.length, unreadableCount }, 'the list of servers is not complete'),
      onFailure: ({ code, details }) => log?.warn({ ...details, code }, 'a call of the hosting API failed'),
    });
    return { limiter, chain };
  }
}

function createApi(
  account: AccountNames,
  caller: Pick<CallBy, 'caller' | 'workspaceId'>,
  open: () => Account,
): HostingApi {
  const by = <Options extends CallOptions>(call?: Options) => ({ ...call, ...caller });
  return {
    account,
    fetchCatalog: (call) => open().chain.readCatalog(by(call)),
    fetchServers: (call) => open().chain.readServers(by(call)),
    createServer: (order, call) => open().chain.change(createServer(order), by(call)),
    renewServer: (id, call) => open().chain.change(renewServer(id), by(call)),
    changePower: (action, id, call) => open().chain.change(changePower(action, id), by(call)),
    deleteServer: (id, call) => open().chain.change(deleteServer(id), by(call)),
    budget: () => open().limiter.budget(),
  };
}
