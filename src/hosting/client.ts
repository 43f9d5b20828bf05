import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Secret } from '../core/secret.ts';
import type { Server } from '../core/server.ts';
import type { System } from '../system.ts';
import { type CallReport, type Chain, createChain } from './chain.ts';
import { changePower, createServer, deleteServer, renewServer } from './endpoints.ts';
import type { Accounts, ApiCalls, CallOptions, HostingApi } from './hosting-api.ts';
import { type CallLimiter, joinLimiters, KnownAccounts, Limiter } from './limiter.ts';
import { createTransport, type Transport } from './send.ts';
import { createShare, type Share } from './share.ts';

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
  /** Knows which keys open one account; without it, each key opens an account of its own. */
  readonly accounts?: Pick<Accounts, 'nameOf' | 'find'>;
  /** Called with every list of servers that was read. */
  readonly onServers?: (api: HostingApi, servers: readonly Server[]) => void;
  readonly log?: { warn(fields: object, message: string): void };
  /** Called after every attempt at a request, for metrics. */
  readonly onCall?: (report: CallReport) => void;
  /** Used instead of the client's own connections. */
  readonly transport?: Transport;
}

/** The client of the hosting API. It serves all accounts. */
export interface Hosting {
  /**
   * Opens the API of the account behind this key, without a request. All users of a key share its reads, and all keys that are
   * known to open one account share its limiter. With a `limiterName`, calls also go through the limiter of that name, so that two
   * keys of one workspace, which may belong to one account, together stay within 300 requests a minute (docs/design.md 6.2).
   * While calls wait, each `caller` gets a fair share.
   */
  of(key: Secret<string>, limiterName?: string, caller?: string): HostingApi;
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
  const known = new KnownAccounts(options);
  const nameOf = options.accounts?.nameOf ?? accountOf;
  let closed: Promise<void> | undefined;
  return {
    of(key, limiterName, caller) {
      const name = nameOf(key);
      // Looked up at every call, since an idle account may have been dropped and has to be opened again.
      const open = () => accounts.get({ name, account: known.peek(name), limiterName }, key);
      const find = () => known.look(name).then(open);
      return createApi({ name, caller, find, open, onServers: options.onServers });
    },
    close() {
      accounts.close();
      closed ??= transport.close();
      return closed;
    },
  };
}

/** The name of a key, the account that it opens, and the limiter that its caller names. */
interface Opened {
  readonly name: string;
  readonly account: string;
  readonly limiterName: string | undefined;
}

interface Account extends Opened {
  readonly chain: Chain;
  readonly limiter: CallLimiter;
  readonly limiterNames: readonly string[];
}

/** The accounts in use and the limiters: one for each account and one for each name. */
class OpenAccounts {
  readonly #options: HostingOptions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  readonly #open = new Map<string, Account>();
  readonly #limiters = new Map<string, { readonly limiter: Limiter; readonly share: Share }>();
  #lookedForIdleAt = Number.NEGATIVE_INFINITY;

  constructor(options: HostingOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    // Every call that waits for a retry adds a listener, so many of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  get(opened: Opened, key: Secret<string>): Account {
    const { name, account, limiterName } = opened;
    const limiterNames = [...new Set([...(limiterName === undefined ? [] : [limiterName]), account, name])];
    this.#forgetIdle(limiterNames);
    const id = JSON.stringify([name, account, limiterName]);
    const open = this.#open.get(id) ?? this.#make(opened, limiterNames, key);
    this.#open.set(id, open);
    return open;
  }

  close(): void {
    this.#closing.abort();
    for (const { limiter } of this.#limiters.values()) limiter.close();
  }

  #forgetIdle(except: readonly string[]): void {
    const now = this.#options.system.elapsed();
    if (now - this.#lookedForIdleAt < LOOK_FOR_IDLE_MS) return;
    this.#lookedForIdleAt = now;
    for (const [name, { limiter }] of this.#limiters) {
      if (except.includes(name) || !limiter.isIdle(FORGET_IDLE_MS)) continue;
      limiter.close();
      this.#limiters.delete(name);
      for (const [user, { limiterNames }] of this.#open)
        if (limiterNames.includes(name)) this.#open.delete(user);
    }
  }

  #make(opened: Opened, limiterNames: readonly string[], key: Secret<string>): Account {
    const { baseUrl, system, log, onCall = () => {} } = this.#options;
    const { name, account, limiterName } = opened;
    const names = limiterName === undefined ? [account] : [limiterName, account];
    const limiter = joinLimiters(names.map((each) => this.#getLimiter(each).limiter));
    const chain = createChain({
      key,
      baseUrl,
      system,
      limiter,
      share: this.#shareOf(name, account),
      transport: this.#transport,
      closing: this.#closing.signal,
      onCall,
      onUnreadable: (operation, count) => log?.warn({ operation, count }, 'left out what could not be read'),
      onIncomplete: ({ servers, unreadableCount }) =>
        log?.warn({ read: servers.length, unreadableCount }, 'the list of servers is not complete'),
      onFailure: ({ code, details }) => log?.warn({ ...details, code }, 'a call of the hosting API failed'),
    });
    return { ...opened, chain, limiter, limiterNames };
  }

  /** Returns the shared reads of a key. A change through any key of its account invalidates them. */
  #shareOf(name: string, account: string): Share {
    const { reader } = this.#getLimiter(name).share;
    return {
      reader,
      change: (run) => {
        const keys = [...this.#open.values()].filter((each) => each.account === account);
        const shares = new Set(
          [name, ...keys.map((each) => each.name)].map((each) => this.#getLimiter(each).share),
        );
        return [...shares].reduce((inner, share) => () => share.change(inner), run)();
      },
    };
  }

  #getLimiter(name: string): { readonly limiter: Limiter; readonly share: Share } {
    const { system, calls, timeoutMs, limit = 300 } = this.#options;
    const known = this.#limiters.get(name);
    if (known) return known;
    const limiter = new Limiter({ system, calls, account: name, timeoutMs, limit });
    if (this.#closing.signal.aborted) limiter.close();
    const made = { limiter, share: createShare(system) };
    this.#limiters.set(name, made);
    return made;
  }
}

interface ApiParts {
  readonly name: string;
  readonly caller: string | undefined;
  /** Opens the key's account, after looking up which one that is. */
  readonly find: () => Promise<Account>;
  /** Opens the account that was last known for the key. */
  readonly open: () => Account;
  readonly onServers: HostingOptions['onServers'];
}

function createApi({ name, caller, find, open, onServers }: ApiParts): HostingApi {
  const by = <Options extends CallOptions>(call?: Options) => ({ ...call, caller });
  const readServers = async (call?: CallOptions) => {
    const list = await (await find()).chain.readServers(by(call));
    onServers?.(api, list.servers);
    return list;
  };
  const api: HostingApi = {
    account: name,
    fetchCatalog: async (call) => (await find()).chain.readCatalog(by(call)),
    fetchServers: readServers,
    createServer: async (order, call) => (await find()).chain.change(createServer(order), by(call)),
    renewServer: async (id, call) => (await find()).chain.change(renewServer(id), by(call)),
    changePower: async (action, id, call) => (await find()).chain.change(changePower(action, id), by(call)),
    deleteServer: async (id, call) => (await find()).chain.change(deleteServer(id), by(call)),
    budget: () => open().limiter.budget(),
  };
  return api;
}

/** Returns the name of a key that `Accounts` doesn't name: the first 64 bits of its SHA-256, in hexadecimal. */
export function accountOf(key: Secret<string>): string {
  return createHash('sha256').update(key.reveal()).digest('hex').slice(0, 16);
}
