import type { WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { Freshness, OnWait, Urgency, Wait } from './hosting-api.ts';
import type { CallBy } from './limiter.ts';

/** How a shared read is sent. */
export interface Read {
  readonly urgency: Urgency;
  readonly caller: string | undefined;
  readonly workspaceId: WorkspaceId | undefined;
  readonly onWait: OnWait;
  /** To be called right before each try is sent: the answer may miss changes after this moment. */
  readonly beforeSend: () => Promise<void>;
}

/** Shares the reads of one key, and forgets their answers when something changes (docs/design.md 6.4). */
export interface Share {
  /**
   * Makes a reader whose callers share one request in flight, and its answer for `cacheMs`. While `isBusy`, each caller has a
   * request of its own until it is sent, so that none waits in the limiter's line of another caller.
   */
  reader<Answer>(
    cacheMs: number,
    send: (read: Read) => Promise<Answer>,
    isBusy?: () => boolean,
  ): Reader<Answer>;
  /** Runs a change. However that ends, no answer to a read that was sent before its end is reused. */
  change<Answer>(run: () => Promise<Answer>): Promise<Answer>;
}

/** Reads, or reuses an answer that is fresh enough. @throws what `send` throws, for all callers that share it */
export type Reader<Answer> = (options?: CallBy) => Promise<Answer>;

/** Creates the shared reads of one key. */
export function createShare(system: System): Share {
  // Counts starts and ends of changes. An answer is valid while the count is the same as when its request was sent.
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
  /** Called when the read has to wait; undefined once that happened. */
  listeners: OnWait[] | undefined;
  /** The wait that the listeners were called with. */
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
  /** The newest request; older ones continue for the callers that wait for them. */
  #flight: Flight<Answer> | undefined;
  /** The newest request of each caller. */
  readonly #own = new Map<string | undefined, Flight<Answer>>();
  #cached: { readonly answer: Answer; readonly at: number; readonly epoch: number } | undefined;

  constructor(sharing: Sharing<Answer>) {
    this.#sharing = sharing;
  }

  read({
    freshness = 'shared',
    urgency = 'user',
    caller,
    workspaceId,
    onWait,
  }: CallBy = {}): Promise<Answer> {
    const cached = this.#findCached(freshness);
    if (cached) return Promise.resolve(cached.answer);
    const flight =
      [this.#flight, this.#own.get(caller)].find(
        (each) => each && this.#fits(each, freshness, urgency, caller),
      ) ?? this.#start(urgency, caller, workspaceId);
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
    // A request that was sent can be shared if nothing has changed since, but never as `fresh`.
    if (flight.leftIn !== undefined)
      return freshness !== 'fresh' && flight.leftIn === this.#sharing.epoch.count;
    // A request that waits can be shared by all callers whom it makes wait no longer than one of their own.
    if (flight.caller !== caller && this.#sharing.isBusy()) return false;
    return RANK[flight.urgency] <= RANK[urgency];
  }

  #start(urgency: Urgency, caller: string | undefined, workspaceId: WorkspaceId | undefined): Flight<Answer> {
    const read: Read = {
      urgency,
      caller,
      workspaceId,
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
