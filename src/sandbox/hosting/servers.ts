import { randomInt } from 'node:crypto';
import type { Account, Accounts } from './accounts.ts';
import type { Order, PriceList } from './catalog.ts';
import { type HostingClock, oneMonthLater } from './clock.ts';
import { ApiError } from './protocol.ts';

/** An element of the GET /servers list (docs/hosting-api.md 2). */
export interface WireServer {
  readonly id: number;
  readonly label: string;
  readonly state: string;
  readonly ipv4: string;
  readonly paid_until: string;
}

/** What the supplier behind the service says to an order (docs/hosting-api.md 3, rules 2 and 3). */
export type Supplier =
  | { readonly says: 'yes' }
  | { readonly says: 'no' }
  | { readonly says: 'nothing'; readonly completes: boolean; readonly afterMs: number };

/** An order that was charged and that the supplier has not confirmed. */
interface Unconfirmed {
  readonly accountId: number;
  readonly order: Order;
  readonly priceMinor: number;
  readonly dueMs: number;
  readonly completes: boolean;
}

/** A server as the service keeps it; its state follows from the time and is never stored. */
interface ServerRecord {
  readonly accountId: number;
  readonly id: number;
  readonly label: string;
  readonly plan: string;
  readonly ipv4: string;
  power: 'running' | 'stopped';
  /** What keeps the server busy until then, after which it is `power`. */
  busy: { readonly state: 'creating' | 'rebooting'; readonly untilMs: number } | undefined;
  paidUntilMs: number;
}

interface Parts {
  readonly accounts: Accounts;
  readonly prices: PriceList;
  readonly clock: HostingClock;
  readonly maxServers: number;
  readonly createDelayMs: number;
  readonly rebootDelayMs: number;
}

/** Every account's servers, and the rules by which they come, change, cost and go. */
export class Servers {
  readonly #parts: Parts;
  readonly #servers = new Map<number, ServerRecord>();
  readonly #passwords = new Map<number, string>();
  #unconfirmed: Unconfirmed[] = [];
  readonly #deleted: (WireServer & Pick<ServerRecord, 'accountId'>)[] = [];
  #lastId = 1000;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  list(account: Account): WireServer[] {
    const nowMs = this.settle();
    return this.#listed(account, nowMs).map((server) => toWire(server, nowMs));
  }

  listDeleted(account: Account): WireServer[] {
    return this.#deleted
      .filter(({ accountId }) => accountId === account.id)
      .map(({ accountId: _, ...server }) => server);
  }

  /**
   * Creates a server and charges its first month (docs/hosting-api.md 3). Only its answer carries the root password.
   * @throws ApiError not_enough_balance, limit: nothing charged; not_created: charged and given back at once;
   * checking: charged, until the server appears or the charge is given back
   */
  create(account: Account, order: Order, supplier: Supplier) {
    const { accounts, prices, maxServers } = this.#parts;
    const nowMs = this.settle();
    const priceMinor = prices.priceMinorOf(order.plan);
    if (accounts.balanceOf(account) < priceMinor) throw new ApiError('not_enough_balance');
    const waiting = this.#unconfirmed.filter((one) => one.accountId === account.id).length;
    if (this.#listed(account, nowMs).length + waiting >= maxServers) throw new ApiError('limit');

    const id = supplier.says === 'yes' ? this.#nextId() : undefined;
    accounts.charge(account, priceMinor, `create ${order.label} (${order.plan})`, id);
    if (supplier.says === 'nothing') {
      const { completes, afterMs } = supplier;
      this.#unconfirmed.push({ accountId: account.id, order, priceMinor, dueMs: nowMs + afterMs, completes });
      throw new ApiError('checking');
    }
    if (id === undefined) {
      accounts.refund(account, priceMinor, `refund, ${order.label} was not created`);
      throw new ApiError('not_created');
    }
    this.#register(account.id, id, order, nowMs);
    return { id, state: 'creating', root_password: this.#issuePassword(id) };
  }

  /** Starts, stops or reboots a server; free of charge. @throws ApiError not_found, wrong_state */
  power(account: Account, id: string, action: PowerAction) {
    const nowMs = this.settle();
    const server = this.#getServer(account, id, nowMs);
    applyPower(server, action, nowMs, this.#parts.rebootDelayMs);
    return { id: server.id, state: stateAt(server, nowMs) };
  }

  /** Charges one month at today's price and moves `paid until` one calendar month. @throws ApiError not_found, not_enough_balance */
  renew(account: Account, id: string) {
    const server = this.#getServer(account, id, this.settle());
    const priceMinor = this.#parts.prices.priceMinorOf(server.plan);
    this.#parts.accounts.charge(account, priceMinor, `renew ${server.label} (${server.plan})`, server.id);
    server.paidUntilMs = oneMonthLater(server.paidUntilMs);
    return { id: server.id, paid_until: new Date(server.paidUntilMs).toISOString() };
  }

  /** Deletes a server; the rest of the paid month is not refunded (docs/hosting-api.md 3). @throws ApiError not_found */
  remove(account: Account, id: string) {
    const nowMs = this.settle();
    const server = this.#getServer(account, id, nowMs);
    this.#servers.delete(server.id);
    this.#deleted.push({ ...toWire(server, nowMs), state: 'deleted', accountId: account.id });
    return { id: server.id, state: 'deleted' };
  }

  /** Puts `count` running servers into an account without charging them; returns their ids. */
  seed(account: Account, count: number, labelPrefix: string): number[] {
    const nowMs = this.settle();
    const plan = this.#parts.prices.current.plans[0]?.code ?? '';
    return Array.from({ length: count }, (_, index) => {
      const label = `${labelPrefix}-${index + 1}`;
      const server = this.#register(account.id, this.#nextId(), { label, plan }, nowMs);
      server.busy = undefined;
      return server.id;
    });
  }

  /**
   * The root password issued for a server. The service itself never shows one twice; this exists so that a test
   * can look for a password in logs, databases and messages where it must not be.
   */
  passwordOf(serverId: number): string | undefined {
    this.settle();
    return this.#passwords.get(serverId);
  }

  /** When, by the passing of time alone, something of this account changes next; undefined: never. */
  findNextChangeMs(account: Account): number | undefined {
    const nowMs = this.settle();
    const moments = this.#listed(account, nowMs).flatMap(momentsOf);
    const later = [...moments, ...this.#unconfirmed.map(({ dueMs }) => dueMs)].filter((at) => at > nowMs);
    return later.length === 0 ? undefined : later.reduce((first, at) => Math.min(first, at));
  }

  /**
   * Books what has fallen due since the state was last read: unconfirmed creations complete or are refunded.
   * Returns the time that it was done for.
   */
  settle(): number {
    const nowMs = this.#parts.clock.now();
    const due = this.#unconfirmed.filter((one) => one.dueMs <= nowMs);
    if (due.length === 0) return nowMs;
    this.#unconfirmed = this.#unconfirmed.filter((one) => one.dueMs > nowMs);
    due.sort((one, other) => one.dueMs - other.dueMs);
    for (const { accountId, order, priceMinor, dueMs, completes } of due) {
      if (!completes) {
        const what = `refund, ${order.label} was not created`;
        this.#parts.accounts.refund({ id: accountId }, priceMinor, what);
        continue;
      }
      // The password is made all the same: the answer that would have carried it is lost.
      const server = this.#register(accountId, this.#nextId(), order, dueMs);
      this.#issuePassword(server.id);
    }
    return nowMs;
  }

  #register(accountId: number, id: number, order: Pick<Order, 'label' | 'plan'>, atMs: number): ServerRecord {
    const server: ServerRecord = {
      accountId,
      id,
      label: order.label,
      plan: order.plan,
      ipv4: ipv4Of(id),
      power: 'running',
      busy: { state: 'creating', untilMs: atMs + this.#parts.createDelayMs },
      paidUntilMs: oneMonthLater(atMs),
    };
    this.#servers.set(id, server);
    return server;
  }

  #issuePassword(id: number): string {
    const password = newRootPassword();
    this.#passwords.set(id, password);
    return password;
  }

  #getServer(account: Account, id: string, nowMs: number): ServerRecord {
    const server = /^\d{1,15}$/.test(id) ? this.#servers.get(Number(id)) : undefined;
    if (server?.accountId !== account.id || isGone(server, nowMs)) throw new ApiError('not_found');
    return server;
  }

  #listed(account: Account, nowMs: number): ServerRecord[] {
    return [...this.#servers.values()].filter(
      (server) => server.accountId === account.id && !isGone(server, nowMs),
    );
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

type PowerAction = 'start' | 'stop' | 'reboot';

type ServerState = 'creating' | 'running' | 'stopped' | 'rebooting' | 'expired';

// Our invention: what happens when the paid month ends is an open question (docs/hosting-api.md 3.11).
const KEPT_AFTER_EXPIRY_MS = 7 * 24 * 60 * 60 * 1000;

const ALLOWED_IN: Record<PowerAction, ServerState> = { start: 'stopped', stop: 'running', reboot: 'running' };

/** The state at a moment. `expired`, from `paid until` on, is our invention: it refuses power actions, not renewal. */
function stateAt(server: ServerRecord, nowMs: number): ServerState {
  if (nowMs >= server.paidUntilMs) return 'expired';
  if (server.busy && nowMs < server.busy.untilMs) return server.busy.state;
  return server.power;
}

/** Whether the server is permanently gone: our invention too, seven days after `paid until`. */
function isGone(server: ServerRecord, nowMs: number): boolean {
  return nowMs >= server.paidUntilMs + KEPT_AFTER_EXPIRY_MS;
}

/** The moments, epoch milliseconds, at which the server becomes another by the passing of time. */
function momentsOf({ busy, paidUntilMs }: ServerRecord): number[] {
  return [...(busy ? [busy.untilMs] : []), paidUntilMs, paidUntilMs + KEPT_AFTER_EXPIRY_MS];
}

/** Carries out a power action (docs/hosting-api.md 3). Costs nothing. @throws ApiError wrong_state */
function applyPower(server: ServerRecord, action: PowerAction, nowMs: number, rebootMs: number): void {
  if (stateAt(server, nowMs) !== ALLOWED_IN[action]) throw new ApiError('wrong_state');
  server.power = action === 'stop' ? 'stopped' : 'running';
  server.busy = action === 'reboot' ? { state: 'rebooting', untilMs: nowMs + rebootMs } : undefined;
}

function toWire(server: ServerRecord, nowMs: number): WireServer {
  return {
    id: server.id,
    label: server.label,
    state: stateAt(server, nowMs),
    ipv4: server.ipv4,
    paid_until: new Date(server.paidUntilMs).toISOString(),
  };
}

/** An address from 198.18.0.0/15, the block set apart for tests, so that no sandbox server points at a real one. */
function ipv4Of(id: number): string {
  return `198.${18 + (Math.floor(id / 65_536) % 2)}.${Math.floor(id / 256) % 256}.${id % 256}`;
}

const LENGTH = 24;

// Punctuation on purpose: `<`, `&`, `*` and the backtick are what chat markup would mangle.
const SETS = ['abcdefghijkmnopqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '!#$%&*+-.:;<=>?@^_~`|'];

const pick = (characters: string) => characters.charAt(randomInt(characters.length));

/** A random root password of 24 characters, at least one of each kind, punctuation included. */
function newRootPassword(): string {
  const characters = SETS.map(pick);
  while (characters.length < LENGTH) characters.push(pick(SETS.join('')));
  for (let last = characters.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [characters[last], characters[other]] = [characters[other] ?? '', characters[last] ?? ''];
  }
  return characters.join('');
}
