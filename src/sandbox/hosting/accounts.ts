import { createHash, randomBytes } from 'node:crypto';
import type { HostingClock } from './clock.ts';
import type { Journal, MoneyEntry } from './journal.ts';
import { ApiError } from './protocol.ts';

/** An account holder; balance and keys are asked for by account, since they change. */
export interface Account {
  readonly id: number;
  readonly name: string;
}

type AccountId = Pick<Account, 'id'>;

/** An API key as the account page lists it: never the key itself, which is shown once. */
export interface KeyEntry {
  readonly id: number;
  /** Its last four characters. */
  readonly hint: string;
  /** Of the key itself only this is kept. */
  readonly hash: string;
  readonly createdAtMs: number;
  revokedAtMs?: number;
}

interface Book extends Account {
  balanceMinor: number;
  isOpen: boolean;
  readonly keys: KeyEntry[];
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('base64');

/** The accounts with their balances in integer minor units and their API keys. */
export class Accounts {
  readonly #clock: HostingClock;
  readonly #journal: Journal;
  readonly #books = new Map<number, Book>();
  #lastKeyId = 0;

  constructor(clock: HostingClock, journal: Journal) {
    this.#clock = clock;
    this.#journal = journal;
  }

  /** Opens an account. A balance above zero is booked as its first top-up, which opens the API. */
  create(wanted: { name: string; balanceMinor?: number }): Account {
    const account: Account = { id: this.#books.size + 1, name: wanted.name };
    this.#books.set(account.id, { ...account, balanceMinor: 0, isOpen: false, keys: [] });
    if (wanted.balanceMinor !== undefined && wanted.balanceMinor !== 0)
      this.topUp(account, wanted.balanceMinor);
    return account;
  }

  list(): Account[] {
    return [...this.#books.values()].map(accountOf);
  }

  /** Adds money to the balance; the first time, it opens the API (docs/hosting-api.md 5). @throws RangeError */
  topUp(account: Account, amountMinor: number): void {
    if (!Number.isSafeInteger(amountMinor) || amountMinor <= 0)
      throw new RangeError('A top-up must be a whole number of minor units (such as cents) above zero.');
    this.#getBook(account).isOpen = true;
    this.#move(account, 'top_up', amountMinor, 'top-up');
  }

  /** Takes money from the balance. @throws ApiError not_enough_balance, and then takes nothing */
  charge(account: AccountId, amountMinor: number, what: string, serverId?: number): void {
    if (this.balanceOf(account) < amountMinor) throw new ApiError('not_enough_balance');
    this.#move(account, 'charge', amountMinor, what, serverId);
  }

  refund(account: AccountId, amountMinor: number, what: string): void {
    this.#move(account, 'refund', amountMinor, what);
  }

  /** The balance as booked, in minor units; `Hosting.balanceOf` books what has fallen due first. */
  balanceOf(account: AccountId): number {
    return this.#getBook(account).balanceMinor;
  }

  /** Whether the first top-up has happened (docs/hosting-api.md 5). */
  isOpen(account: Account): boolean {
    return this.#getBook(account).isOpen;
  }

  /**
   * Makes an API key and returns it, the only time it can be seen: only its hash is kept.
   * `beforeTopUp` is for tests of `not_allowed`: the key page itself opens only after the first top-up.
   * @throws ApiError not_allowed
   */
  createKey(account: Account, { beforeTopUp = false } = {}): string {
    const book = this.#getBook(account);
    if (!book.isOpen && !beforeTopUp) throw new ApiError('not_allowed');
    const key = `hk_${randomBytes(24).toString('base64url')}`;
    this.#lastKeyId += 1;
    const known = { id: this.#lastKeyId, hint: key.slice(-4), hash: hashOf(key) };
    book.keys.push({ ...known, createdAtMs: this.#clock.now() });
    return key;
  }

  listKeys(account: Account): readonly KeyEntry[] {
    return this.#getBook(account).keys;
  }

  /** Revokes a key by its id, or by the key itself; from then on it is `unauthorized`. */
  revokeKey(account: Account, key: number | string): void {
    const entry = this.#getBook(account).keys.find(
      ({ id, hash }) => id === key || hash === hashOf(String(key)),
    );
    if (entry) entry.revokedAtMs ??= this.#clock.now();
  }

  findByKey(key: string): Account | undefined {
    const entry = this.findKeyEntry(key);
    const owner = [...this.#books.values()].find(({ keys }) => keys.some((each) => each === entry));
    return owner && entry?.revokedAtMs === undefined ? accountOf(owner) : undefined;
  }

  /** The entry of a key as it was given out, revoked or not. */
  findKeyEntry(key: string): KeyEntry | undefined {
    const wanted = hashOf(key);
    return [...this.#books.values()].flatMap(({ keys }) => keys).find(({ hash }) => hash === wanted);
  }

  #move(account: AccountId, kind: MoneyEntry['kind'], amountMinor: number, what: string, serverId?: number) {
    this.#getBook(account).balanceMinor += kind === 'charge' ? -amountMinor : amountMinor;
    const atMs = this.#clock.now();
    this.#journal.addMoney({ atMs, accountId: account.id, kind, amountMinor, what, serverId });
  }

  #getBook(account: AccountId): Book {
    const book = this.#books.get(account.id);
    if (!book) throw new RangeError(`There is no account ${account.id} in this service.`);
    return book;
  }
}

const accountOf = ({ id, name }: Book): Account => ({ id, name });

const MINUTE_MS = 60_000;

/**
 * Counts an account's requests in any 60 seconds, the strictest reading of docs/hosting-api.md 8. Only accepted requests count: a
 * refused one neither uses up the minute nor prolongs the refusal, which is the mildest.
 */
export function createRateLimit(perMinute: number) {
  const accepted = new Map<number, number[]>();
  return {
    /** Whether the account may send one more request now; a yes is counted. */
    accept(accountId: number, nowMs: number): boolean {
      const recent = (accepted.get(accountId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
      const isAccepted = recent.length < perMinute;
      if (isAccepted) recent.push(nowMs);
      accepted.set(accountId, recent);
      return isAccepted;
    },
  };
}
