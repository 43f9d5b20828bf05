import type { Wait } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { sleepUnless } from './sleep.ts';

/**
 * The times at which slots become free, as far as they are known: those of calls that were answered. Calls that are still
 * in flight, and other processes, free theirs at unknown times. Monotonic milliseconds.
 */
export class KnownReleases {
  /** Sorted. */
  readonly #times: number[] = [];

  /** Holds a slot for this long, and notes when it becomes free; false if the signal fires first. */
  async hold(system: System, ms: number, gaveUp: AbortSignal): Promise<boolean> {
    const at = system.elapsed() + ms;
    const later = this.#times.findIndex((time) => time > at);
    this.#times.splice(later < 0 ? this.#times.length : later, 0, at);
    return sleepUnless(gaveUp, ms, system).finally(() => this.#times.splice(this.#times.indexOf(at), 1));
  }

  /** When this many slots will have become free, with no pause to hold calls back; nothing if that is not known. */
  estimate(slots: number, pausedUntil: number, now: number): Pick<Wait, 'estimateMs'> {
    const freeAt = slots <= 0 ? pausedUntil : this.#times[slots - 1];
    if (freeAt === undefined) return {};
    const estimateMs = Math.max(freeAt, pausedUntil) - now;
    return estimateMs > 0 ? { estimateMs } : {};
  }
}
