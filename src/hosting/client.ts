import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ApiCalls, HostingApi } from '../app/ports.ts';
import type { Secret } from '../domain/secret.ts';
import type { System } from '../system.ts';
import { type CallReport, type Chain, createChain } from './chain.ts';
import { changePower, createServer, deleteServer, renewServer } from './endpoints.ts';
import { Limiter } from './limit.ts';
import { createTransport, type Transport } from './send.ts';

export interface HostingOptions {
  /** Base address of the API, with its version (docs/hosting-api.md 9). */
  readonly baseUrl: string;
  /** One request's time limit. */
  readonly timeoutMs: number;
  readonly system: System;
  /** When requests left, kept over restarts. */
  readonly calls: ApiCalls;
  readonly log?: { warn(fields: object, message: string): void };
  /** Told of every request that left, for metrics. */
  readonly onCall?: (report: CallReport) => void;
  /** Instead of connections of its own. */
  readonly transport?: Transport;
}

export interface Hosting {
  /** The API as the account of this key sees it; workspaces with the same key share its limiter and its reads. */
  of(key: Secret<string>): HostingApi;
  /** Refuses what waits, lets requests under way end, closes the connections. */
  close(): Promise<void>;
}

/** Longer than any slot is held, so that no limiter is forgotten while it still matters. */
const FORGET_IDLE_MS = 15 * 60_000;

/** Makes the client of the hosting API; one serves all accounts. */
export function createHosting(options: HostingOptions): Hosting {
  const transport = options.transport ?? createTransport(options);
  const accounts = new Accounts(options, transport);
  let closed: Promise<void> | undefined;
  return {
    of(key) {
      const name = accountOf(key);
      // Looked up at every call: an account that was forgotten meanwhile is opened again.
      return createApi(name, () => accounts.get(name, key));
    },
    close() {
      accounts.close();
      closed ??= transport.close();
      return closed;
    },
  };
}

interface Account {
  readonly chain: Chain;
  readonly limiter: Limiter;
}

/** The accounts that are in use. */
class Accounts {
  readonly #options: HostingOptions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  readonly #open = new Map<string, Account>();

  constructor(options: HostingOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    // Every call that waits to be tried again listens: many of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  get(name: string, key: Secret<string>): Account {
    this.#forgetIdle(name);
    const account = this.#open.get(name) ?? this.#make(name, key);
    this.#open.set(name, account);
    return account;
  }

  close(): void {
    this.#closing.abort();
    for (const { limiter } of this.#open.values()) limiter.close();
  }

  #forgetIdle(except: string): void {
    for (const [name, { limiter }] of this.#open) {
      if (name === except || !limiter.isIdle(FORGET_IDLE_MS)) continue;
      limiter.close();
      this.#open.delete(name);
    }
  }

  #make(name: string, key: Secret<string>): Account {
    const { system, calls, timeoutMs, log, onCall = () => {} } = this.#options;
    const limiter = new Limiter({ system, calls, account: name, timeoutMs });
    const chain = createChain({
      key,
      baseUrl: this.#options.baseUrl,
      system,
      limiter,
      transport: this.#transport,
      closing: this.#closing.signal,
      onCall,
      onUnreadable: (operation, count) => log?.warn({ operation, count }, 'left out what could not be read'),
      onFailure: ({ code, details }) => log?.warn({ ...details, code }, 'a call of the hosting API failed'),
    });
    if (this.#closing.signal.aborted) limiter.close();
    return { chain, limiter };
  }
}

function createApi(name: string, account: () => Account): HostingApi {
  return {
    account: name,
    fetchCatalog: (call) => account().chain.readCatalog(call),
    fetchServers: (call) => account().chain.readServers(call),
    listServers: async (call) => (await account().chain.readServers(call)).servers,
    createServer: (order, call) => account().chain.change(createServer(order), call),
    renewServer: (id, call) => account().chain.change(renewServer(id), call),
    changePower: (action, id, call) => account().chain.change(changePower(action, id), call),
    deleteServer: (id, call) => account().chain.change(deleteServer(id), call),
    budget: () => account().limiter.budget(),
  };
}

/** Names an account by its key, so that the name may be stored and logged: 64 bits of its SHA-256. */
export function accountOf(key: Secret<string>): string {
  return createHash('sha256').update(key.reveal()).digest('hex').slice(0, 16);
}
