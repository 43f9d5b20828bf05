import type { System } from '../system.ts';
import { sleepUnless } from './sleep.ts';

export interface RedisHealthOptions {
  readonly system: System;
  /** Asks Redis for what is needed of it; rejects if it refuses. */
  readonly probe: () => Promise<unknown>;
  readonly closing: AbortSignal;
  readonly onChange: (isUp: boolean, cause?: string) => void;
}

const ASK_EVERY_MS = 500;
const PATIENCE_MS = 1000;
/** So many good answers in a row make up for a bad one, so that a Redis at its limit doesn't come and go all the time. */
const GOOD_ANSWERS = 4;
/** After an error that the probe doesn't find. */
const REST_MS = 30_000;

/** Watches whether Redis answers in time. */
export class RedisHealth {
  readonly #options: RedisHealthOptions;
  #state: 'starting' | 'up' | 'down' = 'starting';
  #good = 0;
  #answer: Promise<string | undefined> | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RedisHealthOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  get isDown(): boolean {
    return this.#state === 'down';
  }

  /** Watches until it is closed. */
  async watch(): Promise<void> {
    const { system, closing } = this.#options;
    do {
      const cause = await this.#ask();
      if (closing.aborted) return;
      if (cause === undefined) this.#recover();
      else this.#lose(cause);
    } while (await sleepUnless(closing, ASK_EVERY_MS, system));
  }

  /** Reports an error in what Redis was asked to do. */
  fail(error: unknown): void {
    if (this.#options.closing.aborted) return;
    this.#restsUntil = this.#options.system.elapsed() + REST_MS;
    this.#lose(describe(error));
  }

  /** What is wrong; undefined if nothing is. */
  async #ask(): Promise<string | undefined> {
    const { system, probe, closing } = this.#options;
    const heard = new AbortController();
    // One question at a time: those that are asked while Redis is gone are kept until it is back.
    this.#answer ??= probe()
      .then(() => undefined, describe)
      .finally(() => {
        this.#answer = undefined;
      });
    const late = sleepUnless(AbortSignal.any([heard.signal, closing]), PATIENCE_MS, system);
    const cause = await Promise.race([this.#answer, late.then(() => `no answer within ${PATIENCE_MS} ms`)]);
    heard.abort();
    return cause;
  }

  #recover(): void {
    this.#good++;
    const isEnough = this.#state === 'starting' || this.#good >= GOOD_ANSWERS;
    if (this.isUp || !isEnough || this.#options.system.elapsed() < this.#restsUntil) return;
    if (this.isDown) this.#options.onChange(true);
    this.#state = 'up';
  }

  #lose(cause: string): void {
    this.#good = 0;
    if (this.isDown) return;
    this.#state = 'down';
    this.#options.onChange(false, cause);
  }
}

/** The message alone: the error itself may hold the command, and so the password. */
function describe(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'unknown';
}
