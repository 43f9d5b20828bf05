import type { ApiCalls, SlotLimits } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { HeldSlot, nameSlot, type TakenSlot } from './held-slot.ts';
import { type Admission, type SharedQueue, UNQUEUED } from './shared-queue.ts';
import { sleepUnless } from './sleep.ts';

export interface SharedSlotsOptions {
  readonly calls: ApiCalls;
  readonly account: string;
  readonly limits: SlotLimits;
  readonly system: System;
  /** Ends every wait; slots that are still held stay taken in the store. */
  readonly closing: AbortSignal;
  /** Where the calls of all processes wait; without it, each tries again and again. */
  readonly queue?: SharedQueue | undefined;
}

/** How long to wait before trying again when other processes hold all slots. */
const TRY_AGAIN_MS = 500;
/** How often to look whether the queue admits calls while slots are free. */
const LOOK_MS = 2_000;
/** How soon slots are given back that no call gives back earlier. */
const GIVE_BACK_SOON_MS = 2_000;
/** How soon a slot is given back where a call of another process may be waiting for just this one. */
const GIVE_BACK_MS = 20;

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
  /** Our own slots, each with its place in the queue, which is free once the slot is free in the store. */
  readonly #own = new Map<string, Admission>();
  /** Our own slots whose minute is over and that still have to be removed. */
  readonly #over = new Set<string>();
  #isRemoving = false;
  #refused: Refused[] = [];
  #isWatching = false;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
  }

  /** Whether all slots were taken a moment ago, by other processes or before a restart. */
  get areTaken(): boolean {
    return this.#refused.length > 0;
  }

  /**
   * Takes a slot, waiting for one until the signal fires: then undefined. Of this process's calls in the queue,
   * those with a lower priority are first.
   * @throws what the store throws
   */
  async take(priority: number, gaveUp: AbortSignal): Promise<HeldSlot | undefined> {
    const { system, queue } = this.#options;
    const admission = queue ? await this.#lineUp(queue, priority, gaveUp) : UNQUEUED;
    const id = system.newId();
    this.#own.set(id, admission);
    try {
      if (this.areTaken) await this.#untilNextTry(priority);
      while (!gaveUp.aborted) {
        const taken = nameSlot(id, system);
        if (await this.#tryToTake(id)) return new HeldSlot(taken, system, (old) => this.#takeAgain(old));
        await this.#untilNextTry(priority);
      }
      this.#forget(id);
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

  /** All that were refused ask the store together, so that it is asked twice a second at most. */
  #untilNextTry(priority: number): Promise<void> {
    return new Promise((tryAgain) => {
      this.#refused.push({ priority, tryAgain });
      if (this.#refused.length === 1) void this.#tryAgainSoon();
    });
  }

  async #tryAgainSoon(): Promise<void> {
    const { system, closing } = this.#options;
    await sleepUnless(closing, TRY_AGAIN_MS, system);
    const refused = this.#refused.sort((one, other) => one.priority - other.priority);
    this.#refused = [];
    for (const { tryAgain } of refused) tryAgain();
  }

  async #lineUp(queue: SharedQueue, priority: number, gaveUp: AbortSignal): Promise<Admission> {
    const admission = queue.wait(priority, gaveUp);
    if (queue.waiting > 0) void this.#watch(queue);
    return admission;
  }

  /** While slots are free for calls that no queue admits, those go on without the queue: Redis may have lost count. */
  async #watch(queue: SharedQueue): Promise<void> {
    const { calls, account, limits, system, closing } = this.#options;
    if (this.#isWatching) return;
    this.#isWatching = true;
    let admittedBefore: number | undefined;
    while (queue.waiting > 0 && (await sleepUnless(closing, LOOK_MS, system))) {
      const taken = await calls.listTaken(account).catch(() => undefined);
      const free = taken ? limits.limit - taken.length : 0;
      if (free > 0 && queue.admitted === admittedBefore) queue.letThrough(free);
      admittedBefore = free > 0 ? queue.admitted : undefined;
    }
    this.#isWatching = false;
  }

  /** The new one has the old one's place in the queue. */
  async #takeAgain(old: string): Promise<TakenSlot | undefined> {
    const { calls, system } = this.#options;
    const taken = nameSlot(system.newId(), system);
    this.#own.set(taken.id, UNQUEUED);
    try {
      if (!(await calls.takeAgain(old, taken.id))) {
        this.#own.delete(taken.id);
        return undefined;
      }
    } catch (error) {
      // It may have been written anyway.
      this.giveBack(taken.id);
      throw error;
    }
    this.#own.set(taken.id, this.#own.get(old) ?? UNQUEUED);
    this.#own.delete(old);
    return taken;
  }

  async #tryToTake(id: string): Promise<boolean> {
    const { calls, account, limits } = this.#options;
    const over = this.#takeOver();
    try {
      const isTaken = await calls.take({ id, account }, limits, over);
      for (const id of over) this.#forget(id);
      return isTaken;
    } catch (error) {
      for (const id of over) this.giveBack(id);
      throw error;
    }
  }

  async #removeSoon(): Promise<void> {
    const { calls, system, closing, queue } = this.#options;
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    let pauseMs = queue ? GIVE_BACK_MS : GIVE_BACK_SOON_MS;
    while (this.#over.size > 0 && (await sleepUnless(closing, pauseMs, system))) {
      const over = this.#takeOver();
      const isRemoved = await calls.release(over).then(
        () => true,
        () => false,
      );
      if (!isRemoved) pauseMs = GIVE_BACK_SOON_MS;
      for (const id of over) {
        if (isRemoved) this.#forget(id);
        else this.#over.add(id);
      }
    }
    this.#isRemoving = false;
  }

  #takeOver(): string[] {
    const over = [...this.#over];
    this.#over.clear();
    return over;
  }

  #forget(id: string): void {
    this.#own.get(id)?.end();
    this.#own.delete(id);
  }
}
