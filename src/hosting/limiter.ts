import { setMaxListeners } from 'node:events';
import type Bottleneck from 'bottleneck';
import { HostingError, Refusal } from '../core/errors.ts';
import type { AccountNames, WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { ApiCalls, OnWait, Urgency } from './hosting-api.ts';
import { type IsTooLate, MAX_PREPARATION_MS, openSlots, SharedSlots, sleepUnless } from './slots.ts';

export interface LimiterOptions {
  readonly system: System;
  readonly calls: ApiCalls;
  readonly account: AccountNames;
  /** The timeout of one request, in milliseconds: how long a call may still be in flight after a crash. */
  readonly timeoutMs: number;
  /** The most requests in any window. Default: 300 (docs/hosting-api.md 8.1). */
  readonly limit?: number;
  /** Default: one minute. */
  readonly windowMs?: number;
  /** How many slots background work may hold. Default: 100. */
  readonly backgroundLimit?: number;
  /** How long a call waits for its slot before it is refused. Default: 90 s. */
  readonly maxWaitMs?: number;
}

const DEFAULTS = {
  limit: 300,
  windowMs: 60_000,
  backgroundLimit: 100,
  maxWaitMs: 90_000,
} as const;

/** How long a call waits before `onWait` is called, so that the user learns of it. */
export const NOTIFY_AFTER_MS = 5_000;
/** Allows for two clocks that run at slightly different rates. */
const MARGIN_MS = 50;
/** How long a request that was cut off may still be in transit. */
const IN_TRANSIT_MS = 5_000;

/**
 * Lets at most `limit` calls of one account arrive in any `windowMs`, however the service counts (docs/design.md 6.1):
 * each call holds one of `limit` slots from before it leaves until `windowMs` after its answer, so two calls
 * through one slot arrive at least `windowMs` apart. Measures on the monotonic clock.
 */
export class Limiter {
  readonly limit: number;
  readonly #options: Required<LimiterOptions>;
  readonly #shared: SharedSlots;
  readonly #slots: Bottleneck;
  readonly #background: Bottleneck;
  readonly #waiting = new Set<Ticket>();
  readonly #closing = new AbortController();
  #taken = 0;
  #pausedUntil = 0;

  constructor(options: LimiterOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { system, calls, account, limit, timeoutMs, windowMs } = this.#options;
    this.limit = limit;
    const maxHoldMs = MAX_PREPARATION_MS + timeoutMs + IN_TRANSIT_MS + windowMs + MARGIN_MS;
    const limits = { limit, maxHoldMs };
    this.#shared = new SharedSlots({ system, calls, account, limits, closing: this.#closing.signal });
    this.#slots = openSlots(this.limit);
    this.#background = openSlots(Math.min(this.#options.backgroundLimit, this.limit));
    // Every held slot adds a listener, so 300 of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Waits for a slot, then sends. Returns the answer at once; the slot stays taken for a minute after it.
   * @throws Refusal `too_many_waiting`, `waited_too_long`, `shutting_down`, and HostingError `not_sent` if `beforeSend` took too
   * long: nothing was sent; and what `beforeSend`, `send` and the store throw
   */
  run<Answer>(job: Job<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { caller } = job;
      if (this.#closing.signal.aborted) return reject(new Refusal('shutting_down', {}));
      if (this.#hasTooMany(caller)) return reject(new Refusal('too_many_waiting', {}));
      const askedAt = this.#options.system.elapsed();
      const ticket: Ticket = { askedAt, caller, ended: new AbortController(), reject };
      this.#waiting.add(ticket);
      void this.#watch(ticket, job.onWait);
      void this.#queue(job.urgency, () => this.#serve(ticket, job, resolve)).catch((error: unknown) =>
        this.#refuse(ticket, error),
      );
    });
  }

  /** Holds back every call for this long, in milliseconds: the service says that there were too many. */
  pause(ms: number): void {
    const now = this.#options.system.elapsed();
    const isPaused = this.#pausedUntil > now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    if (!isPaused) void this.#holdBack();
  }

  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number } {
    // How many slots other processes hold is known only while they hold all.
    const taken = this.#shared.areTaken ? this.limit : this.#taken;
    return { taken, limit: this.limit, waiting: this.#waiting.size };
  }

  /** Refuses waiting and new calls with `shutting_down`. Requests in flight continue; their slots stay taken in the store. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    for (const ticket of this.#waiting) this.#refuse(ticket, new Refusal('shutting_down', {}));
    // These promises resolve when running requests end, which nothing here waits for.
    for (const slots of [this.#background, this.#slots])
      slots.stop({ dropWaitingJobs: true }).catch(() => {});
  }

  /** Whether this caller already has as many calls waiting as are allowed. */
  #hasTooMany(caller: string | undefined): boolean {
    if (caller === undefined) return false;
    return [...this.#waiting].filter((ticket) => ticket.caller === caller).length >= MOST_OF_CALLER;
  }

  /** Runs a job in its turn: the most urgent first, then in the order in which they came. */
  async #queue(urgency: Urgency, job: () => Promise<void>): Promise<void> {
    const takeSlot = async () => await this.#slots.schedule({ priority: PRIORITY[urgency] }, job);
    await (urgency === 'background' ? this.#background.schedule(takeSlot) : takeSlot());
  }

  /** Runs a call in its slot. It never rejects: failures reach the caller through the ticket. */
  async #serve<Answer>(ticket: Ticket, job: Job<Answer>, resolve: (answer: Answer) => void): Promise<void> {
    const { system, windowMs } = this.#options;
    if (ticket.ended.signal.aborted) return;
    const slot = await this.#shared
      .take(job.workspaceId ?? '', PRIORITY[job.urgency], ticket.ended.signal)
      .catch((error: unknown) => this.#refuse(ticket, error));
    if (!slot) return;
    if (!this.#leave(ticket)) return this.#shared.giveBack(slot.id);
    this.#taken++;
    try {
      await job.beforeSend?.();
      if (slot.isTooOld())
        throw new HostingError('not_sent', 'no', { cause: 'the preparations took too long' });
    } catch (error) {
      this.#taken--;
      ticket.reject(error);
      return this.#shared.giveBack(slot.id);
    }
    const spareMs = await job.send(system.elapsed() - ticket.askedAt, slot.isTooOld).then(
      (answer) => {
        resolve(answer);
        return MARGIN_MS;
      },
      (error) => {
        ticket.reject(error);
        return error instanceof HostingError && error.code === 'no_answer' ? IN_TRANSIT_MS : MARGIN_MS;
      },
    );
    // If the limiter closes before the minute is over, the slot stays taken in the store: the service still counts the call.
    const isOver = await sleepUnless(this.#closing.signal, windowMs + spareMs, system);
    if (isOver) this.#shared.giveBack(slot.id);
    this.#taken--;
  }

  async #watch(ticket: Ticket, onWait: OnWait | undefined): Promise<void> {
    const { system, maxWaitMs } = this.#options;
    const { signal } = ticket.ended;
    if (!(await sleepUnless(signal, Math.min(NOTIFY_AFTER_MS, maxWaitMs), system))) return;
    onWait?.();
    if (!(await sleepUnless(signal, maxWaitMs - NOTIFY_AFTER_MS, system))) return;
    this.#refuse(ticket, new Refusal('waited_too_long', {}));
  }

  /** Ends a call's wait; false if it had ended before. */
  #leave(ticket: Ticket): boolean {
    ticket.ended.abort();
    return this.#waiting.delete(ticket);
  }

  /** Ends a call that still waits: it isn't sent. */
  #refuse(ticket: Ticket, error: unknown): void {
    if (this.#leave(ticket)) ticket.reject(error);
  }

  async #holdBack(): Promise<void> {
    const { system } = this.#options;
    await this.#slots.updateSettings({ reservoir: 0 });
    while (this.#pausedUntil > system.elapsed()) {
      if (!(await sleepUnless(this.#closing.signal, this.#pausedUntil - system.elapsed(), system))) return;
    }
    await this.#slots.updateSettings({ reservoir: null });
  }
}

/** The lower number comes first, as Bottleneck counts. */
export const PRIORITY = { payment: 2, user: 4, background: 6 } as const satisfies Record<Urgency, number>;

export interface CallMaker {
  /** Whose call it is. Only a bounded number of each caller's calls may wait, so that they hold up nobody else for long. */
  readonly caller?: string | undefined;
  /** Whose minute it counts in, besides the account's. */
  readonly workspaceId?: WorkspaceId | undefined;
}

export interface Job<Answer> extends CallMaker {
  readonly urgency: Urgency;
  readonly onWait?: OnWait | undefined;
  /** Awaited right before `send`; if it rejects, nothing is sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Sends the call. Gets the time that it waited, and a function that says whether it is too late by now. */
  readonly send: (waitedMs: number, isTooLate: IsTooLate) => Promise<Answer>;
}

/** A call that waits for a slot. */
interface Ticket {
  readonly askedAt: number;
  readonly caller: string | undefined;
  /** Aborted once the call has its slot, or was refused. */
  readonly ended: AbortController;
  readonly reject: (error: unknown) => void;
}

/**
 * How many calls of one caller may wait. A command has one at a time; shared reads, and what pays for a confirmed order or works in
 * the background, have no caller.
 */
const MOST_OF_CALLER = 25;
