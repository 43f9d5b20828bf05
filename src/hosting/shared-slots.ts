import type { ApiCalls, SlotLimits } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { HeldSlot, nameSlot, type TakenSlot } from './held-slot.ts';
import { sleepUnless } from './sleep.ts';

export interface SharedSlotsOptions {
  readonly calls: ApiCalls;
  readonly account: string;
  readonly limits: SlotLimits;
  readonly system: System;
  /** Ends every wait; slots that are still held stay taken in the store. */
  readonly closing: AbortSignal;
}

/** How long to wait, on average, before trying again when other processes hold all slots. */
const TRY_AGAIN_MS = 500;
/** How soon slots are given back that no call gives back earlier. */
const GIVE_BACK_MS = 2_000;

/** A call that found all slots taken. */
interface Refused {
  readonly priority: number;
  readonly tryAgain: () => void;
}

/**
 * The slots of one account, shared by all processes on the same store (docs/design.md 6). A slot is a row that its owner
 * removes a minute after the answer, by its monotonic clock. The store ends those of a process that died.
 */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  /** Our own slots whose minute is over and that still have to be removed. */
  readonly #over = new Set<string>();
  #isRemoving = false;
  #refused: Refused[] = [];

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
  }

  /** Whether all slots were taken a moment ago, by other processes or before a restart. */
  get areTaken(): boolean {
    return this.#refused.length > 0;
  }

  /**
   * Takes a slot, waiting for one until the signal fires: then undefined. Of this process's calls that wait, those
   * with a lower priority are first.
   * @throws what the store throws
   */
  async take(priority: number, gaveUp: AbortSignal): Promise<HeldSlot | undefined> {
    const { system } = this.#options;
    const id = system.newId();
    try {
      if (this.areTaken) await this.#untilNextTry(priority);
      while (!gaveUp.aborted) {
        const taken = nameSlot(id, system);
        if (await this.#tryToTake(id)) return new HeldSlot(taken, system, (old) => this.#takeAgain(old));
        await this.#untilNextTry(priority);
      }
      return undefined;
    } catch (error) {
      // It may have been written anyway.
      this.giveBack(id);
      throw error;
    }
  }

  /** Gives a slot back together with the next one that is taken, or soon after, to save a commit. */
  giveBack(id: string): void {
    this.#over.add(id);
    void this.#removeSoon();
  }

  /** All that were refused ask the store together, about twice a second. */
  #untilNextTry(priority: number): Promise<void> {
    return new Promise((tryAgain) => {
      this.#refused.push({ priority, tryAgain });
      if (this.#refused.length === 1) void this.#tryAgainSoon();
    });
  }

  async #tryAgainSoon(): Promise<void> {
    const { system, closing } = this.#options;
    // At random times, so that no process always asks right before another one.
    await sleepUnless(closing, TRY_AGAIN_MS * (0.5 + system.random()), system);
    const refused = this.#refused.sort((one, other) => one.priority - other.priority);
    this.#refused = [];
    for (const { tryAgain } of refused) tryAgain();
  }

  async #takeAgain(old: string): Promise<TakenSlot | undefined> {
    const { calls, system } = this.#options;
    const taken = nameSlot(system.newId(), system);
    try {
      return (await calls.takeAgain(old, taken.id)) ? taken : undefined;
    } catch (error) {
      // It may have been written anyway.
      this.giveBack(taken.id);
      throw error;
    }
  }

  async #tryToTake(id: string): Promise<boolean> {
    const { calls, account, limits } = this.#options;
    const over = this.#takeOver();
    try {
      return await calls.take({ id, account }, limits, over);
    } catch (error) {
      for (const id of over) this.giveBack(id);
      throw error;
    }
  }

  async #removeSoon(): Promise<void> {
    const { calls, system, closing } = this.#options;
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    while (this.#over.size > 0 && (await sleepUnless(closing, GIVE_BACK_MS, system))) {
      const over = this.#takeOver();
      await calls.release(over).catch(() => {
        for (const id of over) this.#over.add(id);
      });
    }
    this.#isRemoving = false;
  }

  #takeOver(): string[] {
    const over = [...this.#over];
    this.#over.clear();
    return over;
  }
}
