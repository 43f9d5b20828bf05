import type { ApiCalls } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { sleepUnless } from './sleep.ts';

export interface SharedSlotsOptions {
  readonly calls: ApiCalls;
  readonly account: string;
  readonly limit: number;
  readonly system: System;
  /** The longest that a process can hold a slot. */
  readonly maxHoldMs: number;
  /** Ends every wait; slots that are still held stay taken in the store. */
  readonly closing: AbortSignal;
}

/** How long to wait before trying again when other processes hold all slots. */
const TRY_AGAIN_MS = 500;
/** How often to check whether other processes have given their slots back. */
const LOOK_MS = 2_000;

/**
 * The slots of one account, shared by all processes on the same store (docs/design.md 6). A slot is a row that its owner
 * removes a minute after the answer; clocks are never compared. Rows left by a process that died or by a command-line
 * program are removed by another process once it has seen them for as long as any call can hold them.
 */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  readonly #own = new Set<string>();
  /** Our own slots whose minute is over and that still have to be removed. */
  readonly #over = new Set<string>();
  #isRemoving = false;
  readonly #followed = new Set<string>();
  #adoptedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
  }

  /** Takes a slot, waiting for one until the signal fires: then undefined. @throws what the store throws */
  async take(gaveUp: AbortSignal): Promise<{ readonly id: string; readonly takenAt: number } | undefined> {
    const { account, limit, system } = this.#options;
    const id = system.newId();
    this.#own.add(id);
    try {
      for (;;) {
        const takenAt = system.elapsed();
        if (await this.#tryToTake({ id, account, at: system.now() }, limit)) return { id, takenAt };
        await this.#adoptNowAndThen();
        if (await sleepUnless(gaveUp, TRY_AGAIN_MS, system)) continue;
        this.#own.delete(id);
        return undefined;
      }
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

  async #tryToTake(slot: Parameters<ApiCalls['take']>[0], limit: number): Promise<boolean> {
    const over = this.#takeOver();
    try {
      const isTaken = await this.#options.calls.take(slot, limit, over);
      for (const id of over) this.#own.delete(id);
      return isTaken;
    } catch (error) {
      for (const id of over) this.giveBack(id);
      throw error;
    }
  }

  async #removeSoon(): Promise<void> {
    const { calls, system, closing } = this.#options;
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    while (this.#over.size > 0 && (await sleepUnless(closing, LOOK_MS, system))) {
      const over = this.#takeOver();
      const isRemoved = await calls.release(over).then(
        () => true,
        () => false,
      );
      for (const id of over) {
        if (isRemoved) this.#own.delete(id);
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

  /** Finds the slots that other processes hold, dead ones included; each entry resolves when that slot is free again. */
  async adopt(): Promise<readonly Promise<void>[]> {
    const { calls, account, system } = this.#options;
    this.#adoptedAt = system.elapsed();
    const taken = await calls.listTaken(account);
    const others = taken.filter((id) => !this.#own.has(id) && !this.#followed.has(id));
    const ends = new Map<string, () => void>();
    const freed = others.map((id) => new Promise<void>((resolve) => ends.set(id, resolve)));
    for (const id of others) this.#followed.add(id);
    void this.#follow(ends);
    return freed;
  }

  async #adoptNowAndThen(): Promise<void> {
    if (this.#options.system.elapsed() - this.#adoptedAt < LOOK_MS) return;
    await this.adopt();
  }

  async #follow(ends: Map<string, () => void>): Promise<void> {
    const { calls, account, system, maxHoldMs, closing } = this.#options;
    const until = system.elapsed() + maxHoldMs;
    const end = (ids: readonly string[]) => {
      for (const id of ids) {
        this.#followed.delete(id);
        ends.get(id)?.();
        ends.delete(id);
      }
    };
    while (ends.size > 0 && system.elapsed() < until) {
      if (!(await sleepUnless(closing, Math.min(LOOK_MS, until - system.elapsed()), system))) break;
      const taken = await calls.listTaken(account).catch(() => [...ends.keys()]);
      end([...ends.keys()].filter((id) => !taken.includes(id)));
    }
    const over = [...ends.keys()];
    // What could not be removed is found again by the next check.
    if (over.length > 0 && !closing.aborted) await calls.release(over).catch(() => {});
    end(over);
  }
}
