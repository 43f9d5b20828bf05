import { setMaxListeners } from 'node:events';
import type Bottleneck from 'bottleneck';
import { HostingError, Refusal } from '../core/errors.ts';
import type { AccountNames, WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { ApiCalls, CallOptions, OnWait, Urgency, Wait } from './hosting-api.ts';
import {
  type IsTooLate,
  KnownReleases,
  MAX_PREPARATION_MS,
  openSlots,
  SharedSlots,
  sleepUnless,
} from './slots.ts';

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
  readonly #waiting = new WaitingCalls();
  readonly #closing = new AbortController();
  readonly #releases = new KnownReleases();
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
    const { system } = this.#options;
    return new Promise((resolve, reject) => {
      const { urgency, caller = '' } = job;
      if (this.#closing.signal.aborted) return reject(new Refusal('shutting_down', {}));
      if (this.#waiting.isFull(caller, this.limit - this.budget().taken))
        return reject(new Refusal('too_many_waiting', {}));
      const serve = () => this.#serve(ticket, job, resolve);
      const ticket: Ticket = {
        askedAt: system.elapsed(),
        ended: new AbortController(),
        urgency,
        caller,
        hasTurn: false,
        serve,
        reject,
      };
      this.#waiting.add(ticket);
      void this.#watch(ticket, job.onWait);
      void this.#queue(urgency).catch((error) => {
        if (this.#waiting.leave(ticket)) reject(error);
      });
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
    this.#waiting.rejectAll(new Refusal('shutting_down', {}));
    // These promises resolve when running requests end, which nothing here waits for.
    for (const slots of [this.#background, this.#slots])
      slots.stop({ dropWaitingJobs: true }).catch(() => {});
  }

  async #queue(urgency: Urgency): Promise<void> {
    const priority = PRIORITY[urgency];
    // Each call queues one turn. Which call gets it is decided once a slot is free, since Bottleneck knows no callers.
    const turn = () => this.#waiting.serveNext(urgency);
    const takeSlot = async () => await this.#slots.schedule({ priority }, turn);
    await (urgency === 'background' ? this.#background.schedule(takeSlot) : takeSlot());
  }

  /** Runs a call in its slot. It never rejects: failures reach the caller through the ticket. */
  async #serve<Answer>(ticket: Ticket, job: Job<Answer>, resolve: (answer: Answer) => void): Promise<void> {
    const { system, windowMs } = this.#options;
    const slot = await this.#shared
      .take(job.workspaceId ?? '', PRIORITY[job.urgency], ticket.ended.signal)
      .catch((error: unknown) => {
        if (this.#waiting.leave(ticket)) ticket.reject(error);
      });
    if (!slot) return;
    if (!this.#waiting.leave(ticket)) return this.#shared.giveBack(slot.id);
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
    const isOver = this.#releases.hold(system, windowMs + spareMs, this.#closing.signal);
    if (await isOver) this.#shared.giveBack(slot.id);
    this.#taken--;
  }

  async #watch(ticket: Ticket, onWait: OnWait | undefined): Promise<void> {
    const { system, maxWaitMs } = this.#options;
    const { signal } = ticket.ended;
    if (!(await sleepUnless(signal, Math.min(NOTIFY_AFTER_MS, maxWaitMs), system))) return;
    onWait?.(this.#describeWait(ticket));
    if (!(await sleepUnless(signal, maxWaitMs - NOTIFY_AFTER_MS, system))) return;
    if (this.#waiting.leave(ticket)) ticket.reject(new Refusal('waited_too_long', {}));
  }

  #describeWait(ticket: Ticket): Wait {
    const [now, free] = [this.#options.system.elapsed(), this.limit - this.budget().taken];
    const givesUpInMs = ticket.askedAt + this.#options.maxWaitMs - now;
    const position = this.#waiting.positionOf(ticket);
    return { position, givesUpInMs, ...this.#releases.estimate(position - free, this.#pausedUntil, now) };
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
  /** Whose call it is: each caller gets a fair share. Calls without a caller share one line. */
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

export type CallBy = CallOptions & CallMaker;

/** A call that waits for a slot. */
interface Ticket {
  readonly askedAt: number;
  readonly urgency: Urgency;
  readonly caller: string;
  /** Whether it is no longer in the line of its caller: it waits for a slot that other processes hold. */
  hasTurn: boolean;
  readonly ended: AbortController;
  /** Runs the call in a slot; never rejects. */
  readonly serve: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** How many calls of one caller may wait, and how many of all callers. */
const MOST_OF_CALLER = 100;
const MOST_WAITING = 2000;

/** The lines of one urgency, by caller, in the order in which they are served. No line is empty. */
type Lines = Map<string, Ticket[]>;

/**
 * The calls that wait for a slot; their number is bounded (docs/design.md 6). Each caller has a line, and the lines are served in
 * turn, so that a long one holds up no other caller.
 */
class WaitingCalls {
  /** In the order in which they came. */
  readonly #waiting = new Set<Ticket>();
  /** The most urgent first. */
  readonly #lines: Readonly<Record<Urgency, Lines>> = {
    payment: new Map(),
    user: new Map(),
    background: new Map(),
  };

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Whether one more call of this caller has to be refused. Doesn't count calls for which slots are free. Never refuses a call
   * without a caller: that pays for what was confirmed, or works in the background.
   */
  isFull(caller: string, freeSlots: number): boolean {
    const left = this.#waiting.size - freeSlots;
    if (caller === '' || left < MOST_OF_CALLER) return false;
    const own = [...this.#waiting].filter((ticket) => ticket.caller === caller).length;
    return own - freeSlots >= MOST_OF_CALLER || left >= MOST_WAITING;
  }

  /** Adds a call to the line of its caller. */
  add(ticket: Ticket): void {
    this.#waiting.add(ticket);
    const lines = this.#lines[ticket.urgency];
    const line = lines.get(ticket.caller);
    if (line) line.push(ticket);
    else lines.set(ticket.caller, [ticket]);
  }

  /** Serves the first call of the next line, if any is left. */
  async serveNext(urgency: Urgency): Promise<void> {
    const lines = this.#lines[urgency];
    const [[caller, line] = []] = lines;
    const ticket = line?.shift();
    if (caller === undefined || !line || !ticket) return;
    lines.delete(caller);
    if (line.length > 0) lines.set(caller, line);
    ticket.hasTurn = true;
    await ticket.serve();
  }

  /** Returns a call's place among all that wait; 1 is the next. Calls whose turn has come wait for a slot of other processes. */
  positionOf(ticket: Ticket): number {
    const served = [...this.#waiting].filter(({ hasTurn }) => hasTurn);
    if (ticket.hasTurn) return 1 + served.indexOf(ticket);
    let before = served.length;
    for (const [urgency, lines] of Object.entries(this.#lines)) {
      if (urgency === ticket.urgency) return 1 + before + countBefore(ticket, lines);
      for (const line of lines.values()) before += line.length;
    }
    return 1 + before;
  }

  /** Ends a call's wait; false if it had ended before. */
  leave(ticket: Ticket): boolean {
    const { caller, urgency, ended, hasTurn } = ticket;
    ended.abort();
    const isWaiting = this.#waiting.delete(ticket);
    if (!isWaiting || hasTurn) return isWaiting;
    const lines = this.#lines[urgency];
    const rest = lines.get(caller)?.filter((other) => other !== ticket) ?? [];
    if (rest.length > 0) lines.set(caller, rest);
    else lines.delete(caller);
    return true;
  }

  rejectAll(error: unknown): void {
    for (const ticket of this.#waiting) {
      this.leave(ticket);
      ticket.reject(error);
    }
  }
}

function countBefore(ticket: Ticket, lines: Lines): number {
  const rounds = lines.get(ticket.caller)?.indexOf(ticket) ?? 0;
  let before = 0;
  let isLater = false;
  for (const [caller, line] of lines) {
    if (caller === ticket.caller) isLater = true;
    before += Math.min(line.length, isLater ? rounds : rounds + 1);
  }
  return before;
}
