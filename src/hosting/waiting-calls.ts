import type { Urgency } from '../app/hosting-api.ts';
import { WaitingLines } from './waiting-lines.ts';

/** A call that waits for a slot. */
export interface Ticket {
  readonly askedAt: number;
  readonly caller: string;
  /** Aborted when the wait is over, whatever ended it. */
  readonly ended: AbortController;
  /** Runs the call in a slot; never rejects. */
  readonly serve: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

export interface WaitingLimits {
  /** How many calls of one caller may wait. */
  readonly mostOfCaller: number;
  /** How many calls of all callers may wait. */
  readonly mostWaiting: number;
}

/** The calls that wait for a slot, by urgency and caller; their number is bounded (docs/design.md 6). */
export class WaitingCalls {
  readonly #limits: WaitingLimits;
  readonly #waiting = new Set<Ticket>();
  readonly #lines = { payment: newLines(), user: newLines(), background: newLines() };

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Whether one more call of this caller has to be refused; those for which slots are free don't count. A caller without a
   * name is never refused: it pays for what was confirmed, or works in the background.
   */
  isFull(caller: string, freeSlots: number): boolean {
    const { mostOfCaller, mostWaiting } = this.#limits;
    const left = this.#waiting.size - freeSlots;
    if (caller === '' || left < mostOfCaller) return false;
    const own = [...this.#waiting].filter((ticket) => ticket.caller === caller).length;
    return own - freeSlots >= mostOfCaller || left >= mostWaiting;
  }

  add(ticket: Ticket): void {
    this.#waiting.add(ticket);
  }

  /** Lines it up behind its caller's other calls; false if it has given up. */
  lineUp(ticket: Ticket, urgency: Urgency): boolean {
    if (!this.#waiting.has(ticket)) return false;
    this.#lines[urgency].add(ticket.caller, ticket);
    return true;
  }

  /** Serves the call whose turn it is; those that gave up are skipped. */
  async serveNext(urgency: Urgency): Promise<void> {
    const lines = this.#lines[urgency];
    for (let next = lines.take(); next; next = lines.take()) {
      if (this.#waiting.has(next)) return next.serve();
    }
  }

  /** Ends the ticket's wait; false if it had ended already. */
  leave(ticket: Ticket): boolean {
    ticket.ended.abort();
    return this.#waiting.delete(ticket);
  }

  rejectAll(error: unknown): void {
    for (const ticket of this.#waiting) {
      this.leave(ticket);
      ticket.reject(error);
    }
  }
}

const newLines = () => new WaitingLines<Ticket>();
