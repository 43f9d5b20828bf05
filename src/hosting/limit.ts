import { setMaxListeners } from 'node:events';
import Bottleneck from 'bottleneck';
import type { ApiCalls } from '../app/hosting-api.ts';
import { HostingError, Refusal } from '../domain/errors.ts';
import type { System } from '../system.ts';
import type { CallLimiter, Job } from './call-limiter.ts';
import { SharedSlots } from './shared-slots.ts';
import { sleepUnless } from './sleep.ts';

export interface LimiterOptions {
  readonly system: System;
  readonly calls: ApiCalls;
  readonly account: string;
  /** One request's time limit: as long may a call that was under way at a crash have been under way. */
  readonly timeoutMs: number;
  /** 300 requests per minute (docs/hosting-api.md 8). */
  readonly limit?: number;
  readonly windowMs?: number;
  /** How many of the slots background work may hold. */
  readonly backgroundLimit?: number;
  /** How long a call waits for its slot before it is refused. */
  readonly patienceMs?: number;
}

/** A wait of this length is told to the person. */
export const TELL_AFTER_MS = 5_000;
/** Room for two clocks that do not run at quite the same rate. */
const MARGIN_MS = 50;
/** How long a request that was cut off may still be on its way. */
const STRAY_MS = 5_000;
/** How long a call may take between its slot and its first byte: the ledger's commits. */
const MOST_PREPARING_MS = 15_000;
const SLACK_MS = 30_000;

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
  readonly #waiting = new Set<Ticket>();
  readonly #closing = new AbortController();
  #ready: Promise<void> | undefined;
  #taken = 0;
  #pausedUntil = 0;
  #lastUsedAt: number;

  constructor(options: LimiterOptions) {
    this.#options = { limit: 300, windowMs: 60_000, backgroundLimit: 100, patienceMs: 90_000, ...options };
    const { system, calls, account, limit, timeoutMs, windowMs } = this.#options;
    this.limit = limit;
    this.#shared = new SharedSlots({
      ...{ system, calls, account, limit },
      mostHeldMs: MOST_PREPARING_MS + timeoutMs + STRAY_MS + windowMs + MARGIN_MS,
      closing: this.#closing.signal,
    });
    this.#slots = openSlots(this.limit);
    this.#background = openSlots(Math.min(this.#options.backgroundLimit, this.limit));
    this.#lastUsedAt = options.system.elapsed();
    // Every held slot listens: 300 of them are no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  run<Answer>(job: Job<Answer>): Promise<Answer> {
    const { system } = this.#options;
    this.#lastUsedAt = system.elapsed();
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) return reject(new Refusal('shutting_down', {}));
      const ticket: Ticket = { askedAt: system.elapsed(), called: new AbortController(), reject };
      this.#waiting.add(ticket);
      void this.#watch(ticket, job.onWait);
      void this.#queue(ticket, job.urgency, () => this.#serve(ticket, job, resolve)).catch((error) => {
        if (this.#leave(ticket)) reject(error);
      });
    });
  }

  pause(ms: number): void {
    const now = this.#options.system.elapsed();
    const isPaused = this.#pausedUntil > now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    if (!isPaused) void this.#standStill();
  }

  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number } {
    return { taken: this.#taken, limit: this.limit, waiting: this.#waiting.size };
  }

  isIdle(idleMs: number): boolean {
    const isUnused = this.#taken === 0 && this.#waiting.size === 0;
    return isUnused && this.#options.system.elapsed() - this.#lastUsedAt >= idleMs;
  }

  /** Refuses what waits and what comes; requests under way go on, slots are held no longer. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    for (const ticket of this.#waiting) {
      this.#leave(ticket);
      ticket.reject(new Refusal('shutting_down', {}));
    }
    // Their promises end when running requests do; there is no need to wait for that here.
    for (const slots of [this.#background, this.#slots])
      slots.stop({ dropWaitingJobs: true }).catch(() => {});
  }

  async #queue(ticket: Ticket, urgency: 'person' | 'background', work: () => Promise<void>): Promise<void> {
    await this.#begin();
    if (!this.#waiting.has(ticket)) return;
    const { timeoutMs, windowMs, patienceMs } = this.#options;
    // Only gives back what a defect lost: it is longer than any call of ours can take, so that it never frees the
    // slot of a running one (Bottleneck rejects an expired job and lets its body run on). A call may wait twice: here
    // for a slot that other processes hold, and in the limiter of the account after the one of the workspace.
    const expiration = 2 * patienceMs + MOST_PREPARING_MS + timeoutMs + windowMs + MARGIN_MS + SLACK_MS;
    const priority = urgency === 'person' ? PRIORITY.person : PRIORITY.background;
    const takeSlot = async () => await this.#slots.schedule({ priority, expiration }, work);
    // Not Bottleneck's own `chain`: it would let `expiration` run while the job still waits for the account.
    await (urgency === 'person' ? takeSlot() : this.#background.schedule(takeSlot));
  }

  /** What happens in a slot. It never rejects: the caller is told through the ticket. */
  async #serve<Answer>(ticket: Ticket, job: Job<Answer>, resolve: (answer: Answer) => void): Promise<void> {
    const { system, windowMs } = this.#options;
    // Bottleneck can't call a waiting job off, so a caller that gave up is passed over here.
    if (!this.#waiting.has(ticket)) return;
    const slot = await this.#shared.take(ticket.called.signal).catch((error: unknown) => {
      if (this.#leave(ticket)) ticket.reject(error);
    });
    if (!slot) return;
    if (!this.#leave(ticket)) return this.#shared.giveBack(slot.id);
    this.#taken++;
    try {
      await job.beforeSend?.();
      if (system.elapsed() - slot.takenAt > MOST_PREPARING_MS) {
        throw new HostingError('not_sent', 'no', { cause: 'the preparations took too long' });
      }
    } catch (error) {
      this.#taken--;
      ticket.reject(error);
      return this.#shared.giveBack(slot.id);
    }
    const spareMs = await job.send(system.elapsed() - ticket.askedAt).then(
      (answer) => {
        resolve(answer);
        return MARGIN_MS;
      },
      (error) => {
        ticket.reject(error);
        return error instanceof HostingError && error.code === 'no_answer' ? STRAY_MS : MARGIN_MS;
      },
    );
    // Closed before its minute is over, the slot stays taken in the store: the service still counts its call.
    if (await sleepUnless(this.#closing.signal, windowMs + spareMs, system)) this.#shared.giveBack(slot.id);
    this.#taken--;
  }

  /** Once, before the first call; again when the ledger could not be read. */
  async #begin(): Promise<void> {
    this.#ready ??= this.#takeSlotsOfOthers();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** The service counts what other processes have sent, the one before a restart among them: those slots are taken first. */
  async #takeSlotsOfOthers(): Promise<void> {
    // Primes Bottleneck: see `openSlots`.
    this.#slots.schedule({ weight: 0, priority: 0 }, async () => {}).catch(() => {});
    const others = (await this.#shared.adopt()).slice(0, this.limit);
    this.#taken += others.length;
    for (const freed of others) {
      const hold = async () => {
        await freed;
        this.#taken--;
      };
      this.#slots.schedule({ priority: 0 }, hold).catch(() => {});
    }
  }

  async #watch(ticket: Ticket, onWait: (() => void) | undefined): Promise<void> {
    const { system, patienceMs } = this.#options;
    const { signal } = ticket.called;
    if (!(await sleepUnless(signal, Math.min(TELL_AFTER_MS, patienceMs), system))) return;
    onWait?.();
    if (!(await sleepUnless(signal, patienceMs - TELL_AFTER_MS, system))) return;
    if (this.#leave(ticket)) ticket.reject(new Refusal('waited_too_long', {}));
  }

  /** Takes the ticket out of those that wait; false when it was out already. */
  #leave(ticket: Ticket): boolean {
    ticket.called.abort();
    return this.#waiting.delete(ticket);
  }

  async #standStill(): Promise<void> {
    const { system } = this.#options;
    await this.#slots.updateSettings({ reservoir: 0 });
    while (this.#pausedUntil > system.elapsed()) {
      if (!(await sleepUnless(this.#closing.signal, this.#pausedUntil - system.elapsed(), system))) return;
    }
    await this.#slots.updateSettings({ reservoir: null });
  }
}

/** A caller that waits for a slot. */
interface Ticket {
  readonly askedAt: number;
  /** Aborted when the wait is over, whatever ended it. */
  readonly called: AbortController;
  readonly reject: (error: unknown) => void;
}

const PRIORITY = { person: 4, background: 6 };

/**
 * `minTime` is minus infinity and not 0 because Bottleneck keeps a job back until `Date.now()` has reached the time
 * of the job before it plus `minTime`: with 0, a wall clock set back by an hour would stop every call for an hour.
 */
function openSlots(maxConcurrent: number): Bottleneck {
  return new Bottleneck({ maxConcurrent, minTime: Number.NEGATIVE_INFINITY });
}
