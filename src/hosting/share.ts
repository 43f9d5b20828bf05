import type { System } from '../system.ts';
import type { Freshness, OnWait, Urgency, Wait } from './hosting-api.ts';
import type { CallBy } from './limiter.ts';

/** What the sender of a shared read gets. */
export interface Read {
  readonly urgency: Urgency;
  readonly caller: string | undefined;
  readonly onWait: OnWait;
  /** Called right before each try is sent: the answer may miss changes after this moment. */
  readonly beforeSend: () => Promise<void>;
}

/** Shares the reads of one account, and forgets them when something changes. */
export interface Share {
  /**
   * Makes a read that is in flight only once at a time, and whose answer is reused for `cacheMs`. While the limiter is
   * busy, no call waits in another caller's line: each caller has one of its own until it is sent.
   */
  reader<Answer>(
    cacheMs: number,
    send: (read: Read) => Promise<Answer>,
    isBusy?: () => boolean,
  ): Reader<Answer>;
  /** Runs a change. However it ends, no read that was sent before its end is reused after it. */
  change<Answer>(run: () => Promise<Answer>): Promise<Answer>;
}

export type Reader<Answer> = (options?: CallBy) => Promise<Answer>;

/** Creates the shared reads of one account. */
export function createShare(system: System): Share {
  // Counts starts and ends of changes: an answer is valid as long as the count is the same as when it was requested.
  const epoch = { count: 0 };
  return {
    reader: (cacheMs, send, isBusy = () => false) => {
      const reads = new SharedReads({ system, epoch, cacheMs, send, isBusy });
      return (options) => reads.read(options);
    },
    async change(run) {
      epoch.count++;
      try {
        return await run();
      } finally {
        epoch.count++;
      }
    },
  };
}

/** How old an answer may be for a menu that searches while a user types. */
const RECENT_MS = 30_000;

const RANK: Readonly<Record<Urgency, number>> = { payment: 0, user: 1, background: 2 };

interface Flight<Answer> {
  readonly answer: Promise<Answer>;
  readonly urgency: Urgency;
  readonly caller: string | undefined;
  /** Called when the read has to wait; undefined once they were called. */
  listeners: OnWait[] | undefined;
  /** What they were last shown. */
  wait: Wait | undefined;
  /** The epoch in which its request was sent; undefined while it waits for the limiter. */
  leftIn: number | undefined;
}

interface Sharing<Answer> {
  readonly system: System;
  readonly epoch: { readonly count: number };
  readonly cacheMs: number;
  readonly send: (read: Read) => Promise<Answer>;
  readonly isBusy: () => boolean;
}

class SharedReads<Answer> {
  readonly #sharing: Sharing<Answer>;
  /** The newest one; older ones continue for the callers that wait for them. */
  #flight: Flight<Answer> | undefined;
  /** The newest one of each caller. */
  readonly #own = new Map<string | undefined, Flight<Answer>>();
  #cached: { readonly answer: Answer; readonly at: number; readonly epoch: number } | undefined;

  constructor(sharing: Sharing<Answer>) {
    this.#sharing = sharing;
  }

  read({ freshness = 'shared', urgency = 'user', caller, onWait }: CallBy = {}): Promise<Answer> {
    const cached = this.#findCached(freshness);
    if (cached) return Promise.resolve(cached.answer);
    const flight =
      [this.#flight, this.#own.get(caller)].find(
        (each) => each && this.#fits(each, freshness, urgency, caller),
      ) ?? this.#start(urgency, caller);
    if (onWait) {
      if (flight.listeners) flight.listeners.push(onWait);
      else onWait(flight.wait);
    }
    return flight.answer;
  }

  #findCached(freshness: Freshness): { readonly answer: Answer } | undefined {
    const cached = this.#cached;
    if (!cached || cached.epoch !== this.#sharing.epoch.count || freshness === 'fresh') return undefined;
    const goodForMs =
      freshness === 'recent' ? Math.max(RECENT_MS, this.#sharing.cacheMs) : this.#sharing.cacheMs;
    return this.#sharing.system.elapsed() < cached.at + goodForMs ? cached : undefined;
  }

  #fits(flight: Flight<Answer>, freshness: Freshness, urgency: Urgency, caller: string | undefined): boolean {
    // Already sent: can be shared if nothing has changed since, but is never `fresh`.
    if (flight.leftIn !== undefined)
      return freshness !== 'fresh' && flight.leftIn === this.#sharing.epoch.count;
    // Not sent yet: can be shared by all whom it does not make wait longer than in their own line.
    if (flight.caller !== caller && this.#sharing.isBusy()) return false;
    return RANK[flight.urgency] <= RANK[urgency];
  }

  #start(urgency: Urgency, caller: string | undefined): Flight<Answer> {
    const read: Read = {
      urgency,
      caller,
      onWait: (wait) => {
        const listeners = flight.listeners ?? [];
        flight.listeners = undefined;
        flight.wait = wait;
        for (const listener of listeners) listener(wait);
      },
      beforeSend: async () => {
        flight.leftIn = this.#sharing.epoch.count;
      },
    };
    const flight: Flight<Answer> = {
      urgency,
      caller,
      listeners: [],
      wait: undefined,
      leftIn: undefined,
      // Starts in a later microtask, when `flight` exists.
      answer: Promise.resolve().then(() => this.#sharing.send(read)),
    };
    this.#flight = flight;
    this.#own.set(caller, flight);
    void flight.answer.then(
      (answer) => this.#land(flight, { answer }),
      // The failure reaches every caller that waits; the next read sends a new request.
      () => this.#land(flight, undefined),
    );
    return flight;
  }

  #land(flight: Flight<Answer>, landed: { readonly answer: Answer } | undefined): void {
    if (this.#flight === flight) this.#flight = undefined;
    if (this.#own.get(flight.caller) === flight) this.#own.delete(flight.caller);
    const epoch = flight.leftIn;
    if (!landed || epoch !== this.#sharing.epoch.count) return;
    this.#cached = { answer: landed.answer, epoch, at: this.#sharing.system.elapsed() };
  }
}
