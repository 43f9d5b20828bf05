/** Work that was begun, and that a stop waits for. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts this work until it ends, and returns it. Who begins it also handles what it throws. */
  add<Result>(work: Promise<Result>): Promise<Result> {
    const ended: Promise<unknown> = work.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return work;
  }

  /** Resolves when everything has ended, also what was begun while it waited. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
