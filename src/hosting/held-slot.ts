import { HostingError } from '../domain/errors.ts';
import type { System } from '../system.ts';
import type { CallSlot } from './call-limiter.ts';

/** How long a call may take between getting its slot and sending its first byte; the ledger commits in between. */
export const MAX_PREPARATION_MS = 15_000;
/** A slot younger than this leaves enough time for the rest of the preparations. */
const AGAIN_AFTER_MS = 5_000;

/** A slot that was taken. */
export interface TakenSlot {
  readonly id: string;
  /** On the monotonic clock, and no later than it was stored: from then on, other processes count how long it may be held. */
  readonly takenAt: number;
}

/** Takes the slot again; undefined when another process has freed it. @throws what the store throws */
export type TakeAgain = (id: string) => Promise<TakenSlot | undefined>;

/** A slot of this process, from when it was taken until it is given back. */
export class HeldSlot implements CallSlot {
  readonly #system: Pick<System, 'elapsed'>;
  readonly #takeAgain: TakeAgain;
  #taken: TakenSlot;

  constructor(taken: TakenSlot, system: Pick<System, 'elapsed'>, takeAgain: TakeAgain) {
    this.#taken = taken;
    this.#system = system;
    this.#takeAgain = takeAgain;
  }

  /** Changes when the slot is taken again. */
  get id(): string {
    return this.#taken.id;
  }

  async takeAgain(): Promise<void> {
    if (this.#ageMs() <= AGAIN_AFTER_MS) return;
    const taken = await this.#takeAgain(this.id);
    // Another process freed the slot because this one seemed to have crashed, and may have used it.
    if (!taken)
      throw new HostingError('not_sent', 'no', { cause: 'the slot was lost while the call waited' });
    this.#taken = taken;
  }

  check(): void {
    if (this.#ageMs() <= MAX_PREPARATION_MS) return;
    throw new HostingError('not_sent', 'no', { cause: 'the preparations took too long' });
  }

  #ageMs(): number {
    return this.#system.elapsed() - this.#taken.takenAt;
  }
}
