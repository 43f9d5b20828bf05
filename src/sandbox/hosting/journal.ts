import { inspect } from 'node:util';
import type { FaultKind } from './faults.ts';
import type { ErrorCode, Operation } from './protocol.ts';

/** How a request ended on the wire: `hanging` never gets an answer, `cut` lost its connection without one. */
type Ending = 'pending' | 'answered' | 'cut' | 'hanging';

/** One request as the service saw it. Headers and bodies are left out: they hold API keys and root passwords. */
export interface RequestEntry {
  readonly id: number;
  readonly atMs: number;
  /** The same moment on the real clock, which never jumps. */
  readonly realAtMs: number;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation | undefined;
  readonly accountId: number | undefined;
  /** The server that was made or changed, once the work is done. */
  readonly serverId: number | undefined;
  readonly ending: Ending;
  readonly status: number | undefined;
  readonly code: ErrorCode | undefined;
  readonly fault: FaultKind | undefined;
  /** Whether the operation was carried out, whatever response the caller got; true for `checking`, which charges. */
  readonly didWork: boolean;
  /** Real milliseconds until the answer, not the service's own time. */
  readonly durationMs: number | undefined;
}

/** One movement of money, always positive; `kind` says which way it went. */
export interface MoneyEntry {
  readonly id: number;
  readonly atMs: number;
  readonly accountId: number;
  readonly kind: 'top_up' | 'charge' | 'refund';
  readonly amountMinor: number;
  readonly what: string;
  readonly serverId?: number | undefined;
}

export type JournalEvent =
  | { readonly kind: 'arrived'; readonly request: RequestEntry }
  | { readonly kind: 'ended'; readonly request: RequestEntry }
  | { readonly kind: 'money'; readonly entry: MoneyEntry };

type Arrival = Pick<RequestEntry, 'atMs' | 'realAtMs' | 'method' | 'path' | 'operation'>;
export type RequestChange = Partial<Omit<RequestEntry, 'id' | keyof Arrival>>;
export type RequestFilter = Partial<Omit<RequestEntry, 'id' | 'atMs' | 'realAtMs' | 'durationMs'>>;

const MAX_PATH_LENGTH = 200;
/** Everything that happened, oldest first, capped so that a long sandbox run doesn't grow without end. */
export class Journal {
  readonly #capacity: number;
  readonly #requests = new Map<number, RequestEntry>();
  readonly #money: MoneyEntry[] = [];
  readonly #listeners = new Set<(event: JournalEvent) => void>();
  #lastId = 0;

  constructor(capacity = 20_000) {
    this.#capacity = capacity;
  }

  /** Notes a request before anything is done for it, so that even one that never ends is counted. */
  arrive(arrival: Arrival): RequestEntry {
    this.#lastId += 1;
    const request: RequestEntry = {
      accountId: undefined,
      serverId: undefined,
      status: undefined,
      code: undefined,
      fault: undefined,
      durationMs: undefined,
      ...arrival,
      path: arrival.path.slice(0, MAX_PATH_LENGTH),
      id: this.#lastId,
      ending: 'pending',
      didWork: false,
    };
    this.#requests.set(request.id, request);
    for (const oldest of this.#requests.keys()) {
      if (this.#requests.size <= this.#capacity) break;
      this.#requests.delete(oldest);
    }
    this.#emit({ kind: 'arrived', request });
    return request;
  }

  /** Adds what has become known of a request; listeners hear of it when it has ended. */
  note(id: number, change: RequestChange): void {
    const known = this.#requests.get(id);
    if (!known) return;
    const request = { ...known, ...change };
    this.#requests.set(id, request);
    if (request.ending !== 'pending') this.#emit({ kind: 'ended', request });
  }

  /** Notes a top-up, charge or refund. Moves no money: `Accounts` does. */
  addMoney(movement: Omit<MoneyEntry, 'id'>): void {
    this.#lastId += 1;
    const entry = { ...movement, id: this.#lastId };
    this.#money.push(entry);
    if (this.#money.length > this.#capacity) this.#money.shift();
    this.#emit({ kind: 'money', entry });
  }

  requests(filter: RequestFilter = {}): RequestEntry[] {
    const wanted = Object.entries(filter);
    return [...this.#requests.values()].filter((request) =>
      wanted.every(([field, value]) => Reflect.get(request, field) === value),
    );
  }

  money(filter: Partial<Pick<MoneyEntry, 'accountId' | 'kind'>> = {}): MoneyEntry[] {
    return this.#money.filter(
      (entry) =>
        (filter.accountId === undefined || entry.accountId === filter.accountId) &&
        (filter.kind === undefined || entry.kind === filter.kind),
    );
  }

  /** Calls a listener for every later event; returns a function that stops that. */
  onEvent(listener: (event: JournalEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #emit(event: JournalEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // A broken page must not change what the service does with an account's money.
        reportFailure('A listener of the hosting journal failed', error);
      }
    }
  }
}

/** Reports what went wrong in the sandbox itself to standard error, with the stack trace if there is one. */
export function reportFailure(what: string, error: unknown): void {
  process.stderr.write(`${what}: ${inspect(error)}\n`);
}
