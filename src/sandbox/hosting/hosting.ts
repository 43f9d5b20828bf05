import { type Account, Accounts, createRateLimit } from './accounts.ts';
import { type AnswerStyle, type AnswerStyleChange, DEFAULT_STYLE } from './answers.ts';
import { type Catalog, defaultCatalog, PriceList } from './catalog.ts';
import { HostingClock } from './clock.ts';
import { FaultBook } from './faults.ts';
import {
  Journal,
  type JournalEvent,
  type MoneyEntry,
  type RequestEntry,
  type RequestFilter,
} from './journal.ts';
import { Servers, type WireServer } from './servers.ts';

/** How a service is set up; everything has a default. Delays are milliseconds of the service's own clock. */
export interface HostingOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly clock?: HostingClock;
  readonly catalog?: Catalog;
  /** Servers an account may have; the real limit is an open question (docs/hosting-api.md 8). 5,000 by default. */
  readonly maxServers?: number;
  readonly requestsPerMinute?: number;
  readonly createDelayMs?: number;
  readonly rebootDelayMs?: number;
  readonly answers?: AnswerStyleChange;
  readonly journalCapacity?: number;
}

/** The whole service without its wire, as the sandbox and the tests hold it in their hands. */
export class HostingService {
  readonly clock: HostingClock;
  readonly journal: Journal;
  readonly accounts: Accounts;
  readonly faults: FaultBook;
  readonly prices: PriceList;
  readonly servers: Servers;
  readonly rateLimit: ReturnType<typeof createRateLimit>;
  /** How answers look now. */
  style: AnswerStyle;

  constructor(options: HostingOptions) {
    this.clock = options.clock ?? new HostingClock();
    this.faults = new FaultBook();
    this.journal = new Journal(options.journalCapacity);
    this.accounts = new Accounts(this.clock, this.journal);
    this.prices = new PriceList(options.catalog ?? defaultCatalog());
    this.rateLimit = createRateLimit(options.requestsPerMinute ?? 300);
    this.servers = new Servers({
      accounts: this.accounts,
      prices: this.prices,
      clock: this.clock,
      maxServers: options.maxServers ?? 5000,
      createDelayMs: options.createDelayMs ?? 4000,
      rebootDelayMs: options.rebootDelayMs ?? 3000,
    });
    this.style = { ...DEFAULT_STYLE, ...options.answers };
  }

  /** Changes how answers look from the next request on. */
  readonly setAnswers = (change: AnswerStyleChange): void => {
    this.style = { ...this.style, ...change };
  };

  /** Changes a plan's monthly price for every later charge. @throws RangeError */
  setPrice(plan: string, monthly: string): void {
    this.prices.setPrice(plan, monthly);
  }

  /** Makes a new API key; `beforeTopUp` is for tests of `not_allowed`. @throws ApiError not_allowed */
  createKey(account: Account, options: { beforeTopUp?: boolean } = {}): string {
    return this.accounts.createKey(account, options);
  }

  /** Puts running servers into an account, free of charge and past the server limit; returns their ids. */
  seedServers(account: Account, count: number, labelPrefix = 'seed'): number[] {
    return this.servers.seed(account, count, labelPrefix);
  }

  /** The account's servers as GET /servers lists them, without using up a request. */
  listServers(account: Account): WireServer[] {
    return this.servers.list(account);
  }

  /** The balance in minor units, with every refund that has fallen due. */
  balanceOf(account: Account): number {
    this.servers.settle();
    return this.accounts.balanceOf(account);
  }

  charges(account?: Account): MoneyEntry[] {
    return this.#money('charge', account);
  }

  refunds(account?: Account): MoneyEntry[] {
    return this.#money('refund', account);
  }

  /** The requests that arrived, hung and cut ones included, and match every field of the filter. */
  requests(filter: RequestFilter = {}): RequestEntry[] {
    return this.journal.requests(filter);
  }

  /** The root password issued for a server, for tests that look for it where it must not be. */
  passwordOf(serverId: number): string | undefined {
    return this.servers.passwordOf(serverId);
  }

  /** Calls a listener for every later request and movement of money; returns a function that stops that. */
  onEvent(listener: (event: JournalEvent) => void): () => void {
    return this.journal.onEvent(listener);
  }

  #money(kind: MoneyEntry['kind'], account: Account | undefined): MoneyEntry[] {
    this.servers.settle();
    return this.journal.money({ kind, ...(account && { accountId: account.id }) });
  }
}
