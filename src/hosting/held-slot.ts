import { HostingError } from '../domain/errors.ts';
import type { System } from '../system.ts';
import type { CallSlot } from './call-limiter.ts';

/** How long a call may take between getting its slot and sending its first byte; the ledger commits in between. */
export const MAX_PREPARATION_MS = 15_000;
/** A slot younger than this leaves enough time for the rest of the preparations. */
const AGAIN_AFTER_MS = 5_000;

type Clocks = Pick<System, 'elapsed' | 'now'>;

/** A slot and when it was taken, on both clocks, and no later than it was stored. */
export interface TakenSlot extends Record<keyof Clocks, number> {
  readonly id: string;
}

/** The slot of this ID, for one that is taken next. */
export function nameSlot(id: string, clocks: Clocks): TakenSlot {
  return { id, elapsed: clocks.elapsed(), now: clocks.now() };
}

/** Takes the slot again; undefined when it was no longer taken. @throws what the store throws */
export type TakeAgain = (id: string) => Promise<TakenSlot | undefined>;

/** A slot of this process, from when it was taken until it is given back. */
export class HeldSlot implements CallSlot {
  readonly #clocks: Clocks;
  readonly #takeAgain: TakeAgain;
  #taken: TakenSlot;

  constructor(taken: TakenSlot, clocks: Clocks, takeAgain: TakeAgain) {
    this.#taken = taken;
    this.#clocks = clocks;
    this.#takeAgain = takeAgain;
  }

  /** Changes when the slot is taken again. */
  get id(): string {
    return this.#taken.id;
  }

  async takeAgain(): Promise<void> {
    if (this.#ageMs() <= AGAIN_AFTER_MS) return;
    const taken = await this.#takeAgain(this.id);
    // It had been taken for so long that it ended, and another call may have used it.
    if (!taken)
      throw new HostingError('not_sent', 'no', { cause: 'the slot was lost while the call waited' });
    this.#taken = taken;
  }

  get isTooOld(): boolean {
    return this.#ageMs() > MAX_PREPARATION_MS;
  }

  check(): void {
    if (!this.isTooOld) return;
    throw new HostingError('not_sent', 'no', { cause: 'the preparations took too long' });
  }

  /** The monotonic clock stands still while a machine is suspended, and the wall clock may be set back. */
  #ageMs(): number {
    const { elapsed, now } = this.#taken;
    return Math.max(this.#clocks.elapsed() - elapsed, this.#clocks.now() - now);
  }
}
