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
  readonly #linedUp = new Map<Ticket, Urgency>();
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

  /** Lines it up behind its caller's other calls. */
  add(ticket: Ticket, urgency: Urgency): void {
    this.#waiting.add(ticket);
    this.#lines[urgency].add(ticket.caller, ticket);
    this.#linedUp.set(ticket, urgency);
  }

  /** Serves the call whose turn it is; none if all that are left gave up. */
  async serveNext(urgency: Urgency): Promise<void> {
    const next = this.#lines[urgency].take();
    if (!next) return;
    this.#linedUp.delete(next);
    await next.serve();
  }

  /** Its place among all that wait: 1 is the next one. Those whose turn has come already wait for other processes. */
  positionOf(ticket: Ticket): number {
    const urgency = this.#linedUp.get(ticket);
    if (!urgency) {
      const earlier = [...this.#waiting].filter(
        (each) => !this.#linedUp.has(each) && each.askedAt < ticket.askedAt,
      );
      return 1 + earlier.length;
    }
    const moreUrgent = URGENCIES.slice(0, URGENCIES.indexOf(urgency));
    const before = moreUrgent.reduce((sum, each) => sum + this.#lines[each].size, 0);
    const inTurn = this.#waiting.size - this.#linedUp.size;
    return 1 + inTurn + before + this.#lines[urgency].countBefore(ticket.caller, ticket);
  }

  /** Ends the ticket's wait; false if it had ended already. */
  leave(ticket: Ticket): boolean {
    ticket.ended.abort();
    const urgency = this.#linedUp.get(ticket);
    if (urgency) this.#lines[urgency].remove(ticket.caller, ticket);
    this.#linedUp.delete(ticket);
    return this.#waiting.delete(ticket);
  }

  rejectAll(error: unknown): void {
    for (const ticket of this.#waiting) {
      this.leave(ticket);
      ticket.reject(error);
    }
  }
}

const URGENCIES = ['payment', 'user', 'background'] as const satisfies readonly Urgency[];

const newLines = () => new WaitingLines<Ticket>();
