import type { ApiCalls } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { HeldSlot, type TakenSlot } from './held-slot.ts';
import { type Admission, type SharedQueue, UNQUEUED } from './shared-queue.ts';
import { sleepUnless } from './sleep.ts';
import { LOOK_MS, SlotsOfOthers } from './slots-of-others.ts';

export interface SharedSlotsOptions {
  readonly calls: ApiCalls;
  readonly account: string;
  readonly limit: number;
  readonly system: System;
  /** The longest that a process can hold a slot. */
  readonly maxHoldMs: number;
  /** Ends every wait; slots that are still held stay taken in the store. */
  readonly closing: AbortSignal;
  /** Where the calls of all processes wait; without it, each tries again and again. */
  readonly queue?: SharedQueue | undefined;
}

/** How long to wait before trying again when other processes hold all slots. */
const TRY_AGAIN_MS = 500;
/** How soon a slot is given back where a call of another process may be waiting for just this one. */
const GIVE_BACK_MS = 20;

/**
 * The slots of one account, shared by all processes on the same store (docs/design.md 6). A slot is a row that its owner
 * removes a minute after the answer; clocks are never compared. Rows left by a process that died or by a command-line
 * program are removed by another process once it has seen them for as long as any call can hold them.
 */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  /** Our own slots, each with its place in the queue, which is free once the slot is free in the store. */
  readonly #own = new Map<string, Admission>();
  /** Our own slots whose minute is over and that still have to be removed. */
  readonly #over = new Set<string>();
  #isRemoving = false;
  readonly #others: SlotsOfOthers;
  #isWatching = false;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
    this.#others = new SlotsOfOthers({ ...options, isOwn: (id) => this.#own.has(id) });
  }

  /**
   * Takes a slot, waiting for one until the signal fires: then undefined. Of this process's calls in the queue,
   * those with a lower priority are first.
   * @throws what the store throws
   */
  async take(priority: number, gaveUp: AbortSignal): Promise<HeldSlot | undefined> {
    const { account, limit, system, queue } = this.#options;
    const admission = queue ? await this.#lineUp(queue, priority, gaveUp) : UNQUEUED;
    const id = system.newId();
    this.#own.set(id, admission);
    try {
      while (!gaveUp.aborted) {
        const takenAt = system.elapsed();
        if (await this.#tryToTake({ id, account, at: system.now() }, limit))
          return new HeldSlot({ id, takenAt }, system, (old) => this.#takeAgain(old));
        await this.#others.lookNowAndThen();
        await sleepUnless(gaveUp, TRY_AGAIN_MS, system);
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

  /** Finds the slots that other processes hold, dead ones included; each entry resolves when that slot is free again. */
  adopt(): Promise<readonly Promise<void>[]> {
    return this.#others.adopt();
  }

  async #lineUp(queue: SharedQueue, priority: number, gaveUp: AbortSignal): Promise<Admission> {
    const admission = queue.wait(priority, gaveUp);
    if (queue.waiting > 0) void this.#watch(queue);
    return admission;
  }

  /** While slots are free for calls that no queue admits, those go on without the queue: Redis may have lost count. */
  async #watch(queue: SharedQueue): Promise<void> {
    const { limit, system, closing } = this.#options;
    if (this.#isWatching) return;
    this.#isWatching = true;
    let admittedBefore: number | undefined;
    while (queue.waiting > 0 && (await sleepUnless(closing, LOOK_MS, system))) {
      const free = limit - (await this.#others.look().catch(() => limit));
      if (free > 0 && queue.admitted === admittedBefore) queue.letThrough(free);
      admittedBefore = free > 0 ? queue.admitted : undefined;
    }
    this.#isWatching = false;
  }

  /** The new one has the old one's place in the queue. */
  async #takeAgain(old: string): Promise<TakenSlot | undefined> {
    const { calls, system } = this.#options;
    const [id, takenAt] = [system.newId(), system.elapsed()];
    this.#own.set(id, UNQUEUED);
    try {
      if (!(await calls.takeAgain(old, { id, at: system.now() }))) {
        this.#own.delete(id);
        return undefined;
      }
    } catch (error) {
      // It may have been written anyway.
      this.giveBack(id);
      throw error;
    }
    this.#own.set(id, this.#own.get(old) ?? UNQUEUED);
    this.#own.delete(old);
    return { id, takenAt };
  }

  async #tryToTake(slot: Parameters<ApiCalls['take']>[0], limit: number): Promise<boolean> {
    const over = this.#takeOver();
    try {
      const isTaken = await this.#options.calls.take(slot, limit, over);
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
    let pauseMs = queue ? GIVE_BACK_MS : LOOK_MS;
    while (this.#over.size > 0 && (await sleepUnless(closing, pauseMs, system))) {
      const over = this.#takeOver();
      const isRemoved = await calls.release(over).then(
        () => true,
        () => false,
      );
      if (!isRemoved) pauseMs = LOOK_MS;
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
