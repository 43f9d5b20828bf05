import Bottleneck from 'bottleneck';
import type { AccountNames, WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { ApiCalls, SlotLimits } from './hosting-api.ts';

interface SharedSlotsOptions {
  readonly calls: ApiCalls;
  readonly account: AccountNames;
  readonly limits: SlotLimits;
  readonly system: System;
  /** Ends every wait; slots that are still held stay taken in the store. */
  readonly closing: AbortSignal;
}

/** The average pause before another try while other processes hold all slots. */
const TRY_AGAIN_MS = 500;
/** After how long a slot is given back if no `take` does that earlier. */
const GIVE_BACK_MS = 2_000;

/** A call that found all slots taken and waits for the next try. */
interface Refused {
  readonly priority: number;
  readonly tryAgain: () => void;
}

/**
 * The slots of one account, shared by all processes on the same store (docs/design.md 6.6). A slot is a row that its owner
 * removes a minute after the answer, by its monotonic clock. The store ends the slots of a dead process.
 */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  /** Slots of this process that are free again and still have to be removed from the store. */
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
   * Waits for a slot for this workspace; undefined if the signal fires first. Of the waiting calls of this process, those with the lower number as
   * `priority` come first.
   * @throws what the store throws
   */
  async take(workspaceId: WorkspaceId, priority: number, gaveUp: AbortSignal): Promise<HeldSlot | undefined> {
    const { system } = this.#options;
    const id = system.newId();
    try {
      if (this.areTaken) await this.#untilNextTry(priority);
      while (!gaveUp.aborted) {
        const slot = holdSlot(id, system);
        if (await this.#tryToTake(id, workspaceId)) return slot;
        await this.#untilNextTry(priority);
      }
      return undefined;
    } catch (error) {
      // The slot may be stored despite the error.
      this.giveBack(id);
      throw error;
    }
  }

  /** Gives a slot back with the next `take`, or after two seconds, to save a commit. */
  giveBack(id: string): void {
    this.#over.add(id);
    void this.#removeSoon();
  }

  /** Waits for the next try. All waiting calls ask the store together, about twice a second. */
  #untilNextTry(priority: number): Promise<void> {
    return new Promise((tryAgain) => {
      this.#refused.push({ priority, tryAgain });
      if (this.#refused.length === 1) void this.#tryAgainSoon();
    });
  }

  async #tryAgainSoon(): Promise<void> {
    const { system, closing } = this.#options;
    // At random intervals, so that no process always asks right before another one.
    await sleepUnless(closing, TRY_AGAIN_MS * (0.5 + system.random()), system);
    const refused = this.#refused.sort((one, other) => one.priority - other.priority);
    this.#refused = [];
    for (const { tryAgain } of refused) tryAgain();
  }

  async #tryToTake(id: string, workspaceId: WorkspaceId): Promise<boolean> {
    const { calls, account, limits } = this.#options;
    const over = this.#takeOver();
    try {
      return await calls.take({ id, account, workspaceId }, limits, over);
    } catch (error) {
      for (const id of over) this.giveBack(id);
      throw error;
    }
  }

  async #removeSoon(): Promise<void> {
    const { calls, limits, system, closing } = this.#options;
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    while (this.#over.size > 0 && (await sleepUnless(closing, GIVE_BACK_MS, system))) {
      const over = this.#takeOver();
      await calls.release(over, limits.maxHoldMs).catch(() => {
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

/** How long a call may take from getting its slot to its first byte (docs/design.md 6.1); the ledger commits in between. */
export const MAX_PREPARATION_MS = 15_000;

type HeldSlot = ReturnType<typeof holdSlot>;

/** Whether a call's slot is older than 15 s, too old for a first byte that would leave now. */
export type IsTooLate = HeldSlot['isTooOld'];

/** Makes a slot that a call of this process holds, right before it is stored, so that its age is never underestimated. */
function holdSlot(id: string, system: System) {
  const [elapsedThen, nowThen] = [system.elapsed(), system.now()];
  // The monotonic clock stops while a machine is suspended, and the wall clock may be set back: the larger age counts.
  const ageMs = () => Math.max(system.elapsed() - elapsedThen, system.now() - nowThen);
  return { id, isTooOld: () => ageMs() > MAX_PREPARATION_MS };
}

/**
 * Creates a Bottleneck that runs so many jobs at once. `minTime` is minus infinity, not 0, because Bottleneck holds a job back
 * until the wall clock has reached the time of the job before it plus `minTime`: with 0, a clock that is set back by an hour would
 * stop every call for an hour. The first job would wait for the time when the limiter was made, so an empty one runs at once.
 */
export function openSlots(maxConcurrent: number): Bottleneck {
  const slots = new Bottleneck({ maxConcurrent, minTime: Number.NEGATIVE_INFINITY });
  slots.schedule({ weight: 0, priority: 0 }, async () => {}).catch(() => {});
  return slots;
}

/** Waits so many milliseconds on the monotonic clock; false if the signal fires first. */
export async function sleepUnless(signal: AbortSignal, ms: number, system: System): Promise<boolean> {
  const until = system.elapsed() + ms;
  // Timers may fire slightly early, which would break the guarantee of at least 60 s.
  for (let left = ms; left > 0; left = until - system.elapsed()) {
    if (signal.aborted) return false;
    try {
      await system.sleep(Math.ceil(left), signal);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
  return !signal.aborted;
}
