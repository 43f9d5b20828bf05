/**
 * The service's own time: the real one (or any source) plus what was skipped.
 * Nothing here sets a timer: every transition is worked out from `now()` when the state is read.
 */
export class HostingClock {
  readonly #source: () => number;
  #skippedMs = 0;
  constructor(source: () => number = Date.now) {
    this.#source = source;
  }

  /** How far the clock was moved, in milliseconds. */
  get skippedMs(): number {
    return this.#skippedMs;
  }

  /** Epoch milliseconds of the source, as if nothing had been skipped. */
  realNow(): number {
    return this.#source();
  }

  now(): number {
    return this.#source() + this.#skippedMs;
  }

  /** Skips `ms` milliseconds; time never goes back. @throws RangeError for a negative or non-finite step. */
  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`Time only moves forward, not by ${ms} ms.`);
    this.#skippedMs += ms;
  }

  advanceMonth(): void {
    const nowMs = this.now();
    this.advance(oneMonthLater(nowMs) - nowMs);
  }
}

/** The same moment one calendar month later, in UTC; the 31st becomes the last day of a shorter month. */
export function oneMonthLater(atMs: number): number {
  const moment = new Date(atMs);
  const day = moment.getUTCDate();
  moment.setUTCDate(1);
  moment.setUTCMonth(moment.getUTCMonth() + 1);
  const lastDay = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
  moment.setUTCDate(Math.min(day, lastDay));
  return moment.getTime();
}
