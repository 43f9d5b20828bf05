import type { CallOptions } from '../app/hosting-api.ts';
import type { System } from '../system.ts';

/** What a shared read tells its sender. */
export interface Read {
  readonly urgency: 'person' | 'background';
  readonly onWait: () => void;
  /** Called right before each try leaves: what changes after this moment, the answer may not know. */
  readonly beforeSend: () => Promise<void>;
}

/** Shares the reads of one account, and forgets them when something changes. */
export interface Share {
  /** Makes a read of which one is in flight at a time, and whose answer is good for `keepMs`. */
  reader<Answer>(keepMs: number, send: (read: Read) => Promise<Answer>): Reader<Answer>;
  /** Runs a change. Whatever became of it, answers that left before its end are not given out after it. */
  change<Answer>(run: () => Promise<Answer>): Promise<Answer>;
}

export type Reader<Answer> = (options?: CallOptions) => Promise<Answer>;

/** Makes the sharing of one account. */
export function createShare(system: System): Share {
  // Counts the beginnings and ends of changes: an answer is of use as long as the count is the one it left at.
  const epoch = { count: 0 };
  return {
    reader: (keepMs, send) => {
      const reads = new SharedReads(system, epoch, keepMs, send);
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

interface Flight<Answer> {
  readonly answer: Promise<Answer>;
  readonly urgency: 'person' | 'background';
  /** Everybody who wants to know that it waits; undefined once they have been told. */
  listeners: (() => void)[] | undefined;
  /** The epoch in which its request left; undefined while it waits for its turn. */
  leftIn: number | undefined;
}

class SharedReads<Answer> {
  readonly #system: System;
  readonly #epoch: { readonly count: number };
  readonly #keepMs: number;
  readonly #send: (read: Read) => Promise<Answer>;
  /** The newest one; older ones go on for those who wait for them. */
  #flight: Flight<Answer> | undefined;
  #kept: { readonly answer: Answer; readonly until: number; readonly epoch: number } | undefined;

  constructor(
    system: System,
    epoch: { readonly count: number },
    keepMs: number,
    send: (read: Read) => Promise<Answer>,
  ) {
    this.#system = system;
    this.#epoch = epoch;
    this.#keepMs = keepMs;
    this.#send = send;
  }

  read({ freshness = 'shared', urgency = 'person', onWait }: CallOptions = {}): Promise<Answer> {
    const kept = freshness === 'shared' ? this.#findKept() : undefined;
    if (kept) return Promise.resolve(kept.answer);
    const flight = this.#findFlight(freshness, urgency) ?? this.#start(urgency);
    if (onWait) {
      if (flight.listeners) flight.listeners.push(onWait);
      else onWait();
    }
    return flight.answer;
  }

  #findKept(): { readonly answer: Answer } | undefined {
    const kept = this.#kept;
    return kept && kept.epoch === this.#epoch.count && this.#system.elapsed() < kept.until ? kept : undefined;
  }

  #findFlight(freshness: 'shared' | 'fresh', urgency: 'person' | 'background'): Flight<Answer> | undefined {
    const flight = this.#flight;
    if (!flight) return undefined;
    // In flight: good enough for `shared`, if nothing has changed since. Never for `fresh`.
    if (flight.leftIn !== undefined) {
      return freshness === 'shared' && flight.leftIn === this.#epoch.count ? flight : undefined;
    }
    // Not yet left: good for everybody, but a person does not queue behind people as background work does.
    return urgency === 'person' && flight.urgency === 'background' ? undefined : flight;
  }

  #start(urgency: 'person' | 'background'): Flight<Answer> {
    const read: Read = {
      urgency,
      onWait: () => {
        const listeners = flight.listeners ?? [];
        flight.listeners = undefined;
        for (const tell of listeners) tell();
      },
      beforeSend: async () => {
        flight.leftIn = this.#epoch.count;
      },
    };
    const flight: Flight<Answer> = {
      urgency,
      listeners: [],
      leftIn: undefined,
      // Begins a moment later, when `flight` is there to be told of it.
      answer: Promise.resolve().then(() => this.#send(read)),
    };
    this.#flight = flight;
    void flight.answer.then(
      (answer) => this.#land(flight, { answer }),
      // Everyone who waits is told of the failure; the next reader asks again.
      () => this.#land(flight, undefined),
    );
    return flight;
  }

  #land(flight: Flight<Answer>, landed: { readonly answer: Answer } | undefined): void {
    if (this.#flight === flight) this.#flight = undefined;
    const epoch = flight.leftIn;
    if (!landed || epoch !== this.#epoch.count) return;
    this.#kept = { answer: landed.answer, epoch, until: this.#system.elapsed() + this.#keepMs };
  }
}
