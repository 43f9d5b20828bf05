import { setMaxListeners } from 'node:events';
import type Bottleneck from 'bottleneck';
import type { ApiCalls, OnWait, Urgency, Wait } from '../app/hosting-api.ts';
import { HostingError, Refusal } from '../domain/errors.ts';
import type { System } from '../system.ts';
import type { CallLimiter, Job } from './call-limiter.ts';
import { MAX_PREPARATION_MS } from './held-slot.ts';
import { KnownReleases } from './known-releases.ts';
import { openSlots } from './open-slots.ts';
import { SharedSlots } from './shared-slots.ts';
import { sleepUnless } from './sleep.ts';
import { type Ticket, WaitingCalls, type WaitingLimits } from './waiting-calls.ts';

export interface LimiterOptions extends Partial<WaitingLimits> {
  readonly system: System;
  readonly calls: ApiCalls;
  readonly account: string;
  /** The timeout of one request, and so the longest that a call may still be in flight after a crash. */
  readonly timeoutMs: number;
  /** 300 requests per minute (docs/hosting-api.md 8). */
  readonly limit?: number;
  readonly windowMs?: number;
  /** How many slots background work may hold. */
  readonly backgroundLimit?: number;
  /** How long a call waits for its slot before it is refused. */
  readonly maxWaitMs?: number;
}

const DEFAULTS = {
  limit: 300,
  windowMs: 60_000,
  backgroundLimit: 100,
  maxWaitMs: 90_000,
  mostOfCaller: 100,
  mostWaiting: 2000,
} as const;

/** After this wait, the user sees that the call is queued. */
export const NOTIFY_AFTER_MS = 5_000;
/** Allows for two clocks that run at slightly different rates. */
const MARGIN_MS = 50;
/** How long a request that was cut off may still be in transit. */
const IN_TRANSIT_MS = 5_000;
const SPARE_MS = 30_000;

/**
 * Lets at most `limit` calls of one account arrive in any `windowMs`, however the service counts (docs/design.md 6):
 * each call holds one of `limit` slots from before it leaves until `windowMs` after its answer, so two calls
 * through one slot arrive at least `windowMs` apart. Measured on the monotonic clock.
 */
export class Limiter implements CallLimiter {
  readonly limit: number;
  readonly #options: Required<LimiterOptions>;
  readonly #shared: SharedSlots;
  readonly #slots: Bottleneck;
  readonly #background: Bottleneck;
  readonly #waiting: WaitingCalls;
  readonly #closing = new AbortController();
  readonly #releases = new KnownReleases();
  #taken = 0;
  #pausedUntil = 0;
  #lastUsedAt: number;

  constructor(options: LimiterOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#waiting = new WaitingCalls(this.#options);
    const { system, calls, account, limit, timeoutMs, windowMs } = this.#options;
    this.limit = limit;
    const maxHoldMs = MAX_PREPARATION_MS + timeoutMs + IN_TRANSIT_MS + windowMs + MARGIN_MS;
    const limits = { limit, maxHoldMs };
    this.#shared = new SharedSlots({ system, calls, account, limits, closing: this.#closing.signal });
    this.#slots = openSlots(this.limit);
    this.#background = openSlots(Math.min(this.#options.backgroundLimit, this.limit));
    this.#lastUsedAt = options.system.elapsed();
    // Every held slot adds a listener: 300 of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  run<Answer>(job: Job<Answer>): Promise<Answer> {
    const { system } = this.#options;
    this.#lastUsedAt = system.elapsed();
    return new Promise((resolve, reject) => {
      const { urgency, caller = '' } = job;
      if (this.#closing.signal.aborted) return reject(new Refusal('shutting_down', {}));
      if (this.#waiting.isFull(caller, this.limit - this.budget().taken))
        return reject(new Refusal('too_many_waiting', {}));
      const serve = () => this.#serve(ticket, job, resolve);
      const ticket: Ticket = {
        askedAt: system.elapsed(),
        ended: new AbortController(),
        caller,
        serve,
        reject,
      };
      this.#waiting.add(ticket, urgency);
      void this.#watch(ticket, job.onWait);
      void this.#queue(urgency).catch((error) => {
        if (this.#waiting.leave(ticket)) reject(error);
      });
    });
  }

  pause(ms: number): void {
    const now = this.#options.system.elapsed();
    const isPaused = this.#pausedUntil > now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    if (!isPaused) void this.#holdBack();
  }

  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number } {
    // How many other processes hold is only known while they leave none.
    const taken = this.#shared.areTaken ? this.limit : this.#taken;
    return { taken, limit: this.limit, waiting: this.#waiting.size };
  }

  isIdle(idleMs: number): boolean {
    const isUnused = this.#taken === 0 && this.#waiting.size === 0;
    return isUnused && this.#options.system.elapsed() - this.#lastUsedAt >= idleMs;
  }

  /** Refuses waiting and new calls. Requests in flight continue; their slots are no longer held. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#waiting.rejectAll(new Refusal('shutting_down', {}));
    // These promises resolve when running requests end; there is no need to wait for that here.
    for (const slots of [this.#background, this.#slots])
      slots.stop({ dropWaitingJobs: true }).catch(() => {});
  }

  async #queue(urgency: Urgency): Promise<void> {
    const { timeoutMs, windowMs, maxWaitMs } = this.#options;
    // A safety net for slots that a bug has lost. It is longer than any call can take, so that it never frees the slot of
    // a running call (Bottleneck rejects an expired job but lets its body run on). A call may wait twice: here for a slot
    // that other processes hold, and in the account's limiter after the workspace's.
    const expiration = 2 * maxWaitMs + MAX_PREPARATION_MS + timeoutMs + windowMs + MARGIN_MS + SPARE_MS;
    const priority = PRIORITY[urgency];
    // As many turns as calls; whose turn it is, is decided when a slot is free: Bottleneck knows no callers.
    const turn = () => this.#waiting.serveNext(urgency);
    const takeSlot = async () => await this.#slots.schedule({ priority, expiration }, turn);
    // Not Bottleneck's own `chain`: with it, `expiration` would already run while the job waits for the account.
    await (urgency === 'background' ? this.#background.schedule(takeSlot) : takeSlot());
  }

  /** Runs a call in its slot. It never rejects: failures reach the caller through the ticket. */
  async #serve<Answer>(ticket: Ticket, job: Job<Answer>, resolve: (answer: Answer) => void): Promise<void> {
    const { system, windowMs } = this.#options;
    const slot = await this.#shared
      .take(PRIORITY[job.urgency], ticket.ended.signal)
      .catch((error: unknown) => {
        if (this.#waiting.leave(ticket)) ticket.reject(error);
      });
    if (!slot) return;
    if (!this.#waiting.leave(ticket)) return this.#shared.giveBack(slot.id);
    this.#taken++;
    try {
      await job.beforeSend?.();
      slot.check();
    } catch (error) {
      this.#taken--;
      ticket.reject(error);
      return this.#shared.giveBack(slot.id);
    }
    const spareMs = await job.send(system.elapsed() - ticket.askedAt, slot).then(
      (answer) => {
        resolve(answer);
        return MARGIN_MS;
      },
      (error) => {
        ticket.reject(error);
        return error instanceof HostingError && error.code === 'no_answer' ? IN_TRANSIT_MS : MARGIN_MS;
      },
    );
    if (job.isSent?.() === false) {
      this.#taken--;
      return this.#shared.giveBack(slot.id);
    }
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

const PRIORITY = { payment: 2, user: 4, background: 6 } as const satisfies Record<Urgency, number>;
