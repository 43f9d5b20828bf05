import type { CallOptions, Urgency } from '../app/hosting-api.ts';
import type { System } from '../system.ts';

/** What the sender of a shared read gets. */
export interface Read {
  readonly urgency: Urgency;
  readonly onWait: () => void;
  /** Called right before each try is sent: the answer may miss changes after this moment. */
  readonly beforeSend: () => Promise<void>;
}

/** Shares the reads of one account, and forgets them when something changes. */
export interface Share {
  /** Makes a read that is in flight only once at a time, and whose answer is reused for `cacheMs`. */
  reader<Answer>(cacheMs: number, send: (read: Read) => Promise<Answer>): Reader<Answer>;
  /** Runs a change. However it ends, no read that was sent before its end is reused after it. */
  change<Answer>(run: () => Promise<Answer>): Promise<Answer>;
}

export type Reader<Answer> = (options?: CallOptions) => Promise<Answer>;

/** Creates the shared reads of one account. */
export function createShare(system: System): Share {
  // Counts starts and ends of changes: an answer is valid as long as the count is the same as when it was requested.
  const epoch = { count: 0 };
  return {
    reader: (cacheMs, send) => {
      const reads = new SharedReads(system, epoch, cacheMs, send);
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

const RANK: Readonly<Record<Urgency, number>> = { payment: 0, user: 1, background: 2 };

interface Flight<Answer> {
  readonly answer: Promise<Answer>;
  readonly urgency: Urgency;
  /** Called when the read has to wait; undefined once they were called. */
  listeners: (() => void)[] | undefined;
  /** The epoch in which its request was sent; undefined while it waits for the limiter. */
  leftIn: number | undefined;
}

class SharedReads<Answer> {
  readonly #system: System;
  readonly #epoch: { readonly count: number };
  readonly #cacheMs: number;
  readonly #send: (read: Read) => Promise<Answer>;
  /** The newest one; older ones continue for the callers that wait for them. */
  #flight: Flight<Answer> | undefined;
  #cached: { readonly answer: Answer; readonly until: number; readonly epoch: number } | undefined;

  constructor(
    system: System,
    epoch: { readonly count: number },
    cacheMs: number,
    send: (read: Read) => Promise<Answer>,
  ) {
    this.#system = system;
    this.#epoch = epoch;
    this.#cacheMs = cacheMs;
    this.#send = send;
  }

  read({ freshness = 'shared', urgency = 'user', onWait }: CallOptions = {}): Promise<Answer> {
    const cached = freshness === 'shared' ? this.#findCached() : undefined;
    if (cached) return Promise.resolve(cached.answer);
    const flight = this.#findFlight(freshness, urgency) ?? this.#start(urgency);
    if (onWait) {
      if (flight.listeners) flight.listeners.push(onWait);
      else onWait();
    }
    return flight.answer;
  }

  #findCached(): { readonly answer: Answer } | undefined {
    const cached = this.#cached;
    return cached && cached.epoch === this.#epoch.count && this.#system.elapsed() < cached.until
      ? cached
      : undefined;
  }

  #findFlight(freshness: 'shared' | 'fresh', urgency: Urgency): Flight<Answer> | undefined {
    const flight = this.#flight;
    if (!flight) return undefined;
    // Already sent: can be shared if nothing has changed since, but is never `fresh`.
    if (flight.leftIn !== undefined) {
      return freshness === 'shared' && flight.leftIn === this.#epoch.count ? flight : undefined;
    }
    // Not sent yet: can be shared by all whom it does not make wait longer than in their own line.
    return RANK[flight.urgency] <= RANK[urgency] ? flight : undefined;
  }

  #start(urgency: Urgency): Flight<Answer> {
    const read: Read = {
      urgency,
      onWait: () => {
        const listeners = flight.listeners ?? [];
        flight.listeners = undefined;
        for (const listener of listeners) listener();
      },
      beforeSend: async () => {
        flight.leftIn = this.#epoch.count;
      },
    };
    const flight: Flight<Answer> = {
      urgency,
      listeners: [],
      leftIn: undefined,
      // Starts in a later microtask, when `flight` exists.
      answer: Promise.resolve().then(() => this.#send(read)),
    };
    this.#flight = flight;
    void flight.answer.then(
      (answer) => this.#land(flight, { answer }),
      // The failure reaches every caller that waits; the next read sends a new request.
      () => this.#land(flight, undefined),
    );
    return flight;
  }

  #land(flight: Flight<Answer>, landed: { readonly answer: Answer } | undefined): void {
    if (this.#flight === flight) this.#flight = undefined;
    const epoch = flight.leftIn;
    if (!landed || epoch !== this.#epoch.count) return;
    this.#cached = { answer: landed.answer, epoch, until: this.#system.elapsed() + this.#cacheMs };
  }
}
