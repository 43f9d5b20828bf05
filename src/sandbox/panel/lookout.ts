/** The app writes down what it did a little after it was answered, so one look is not enough. */
const LOOKS_AFTER_MS = [15, 250, 1000];

/** Looks shortly after something happened, and again a little later; never twice at a time. */
export class Lookout {
  readonly #look: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  /** Something happened. */
  notice(): void {
    if (this.#timer !== undefined && this.#next === 0) return;
    this.#next = 0;
    this.#schedule();
  }

  /** Looks now and resolves when it has been seen. */
  lookNow(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      if (!this.#isClosed) await this.#look();
    });
    this.#looking = this.#looking.catch((error: unknown) => {
      console.error('The sandbox could not look at what happened:', error);
    });
    return this.#looking;
  }

  /** Ends all looking; resolves when nobody looks any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const afterMs = LOOKS_AFTER_MS[this.#next];
    if (afterMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#next += 1;
      this.#schedule();
      void this.lookNow();
    }, afterMs).unref();
  }
}
