import { reportFailure } from '../hosting/report-failure.ts';

/** The app records what it did shortly after it answered, so one check is not enough. */
const CHECK_AFTER_MS = [15, 250, 1000];

/** Runs a check shortly after something happened, and again a little later; never two at a time. */
export class Watcher {
  readonly #check: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** Something happened: schedules the checks, unless the first one is pending already. */
  schedule(): void {
    if (this.#timer !== undefined && this.#next === 0) return;
    this.#next = 0;
    this.#startTimer();
  }

  /** Checks now and resolves when that is done. */
  checkNow(): Promise<void> {
    this.#running = this.#running.then(async () => {
      if (!this.#isClosed) await this.#check();
    });
    this.#running = this.#running.catch((error: unknown) => {
      reportFailure('The sandbox could not check what happened', error);
    });
    return this.#running;
  }

  /** Ends all checks; resolves when the last one is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const afterMs = CHECK_AFTER_MS[this.#next];
    if (afterMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#next += 1;
      this.#startTimer();
      void this.checkNow();
    }, afterMs).unref();
  }
}
