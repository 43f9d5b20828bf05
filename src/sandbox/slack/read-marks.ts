import type { Journal } from './journal.ts';

/** Up to which message each person has read each channel; what came later is unread. */
export class ReadMarks {
  readonly #journal: Journal;
  readonly #marks: Map<string, string>;

  constructor(journal: Journal, kept: Readonly<Record<string, string>> = {}) {
    this.#journal = journal;
    this.#marks = new Map(Object.entries(kept));
  }

  /** Moves forward only: a tab that lags behind makes nothing unread again. */
  mark(person: string, channel: string, ts: string): void {
    if (!/^\d+\.\d+$/.test(ts) || ts <= this.of(person, channel)) return;
    this.#marks.set(`${person}/${channel}`, ts);
    this.#journal.emit({ type: 'read', person });
  }

  /** The ts of the last message read; empty when there was none. */
  of(person: string, channel: string): string {
    return this.#marks.get(`${person}/${channel}`) ?? '';
  }

  snapshot(): Record<string, string> {
    return Object.fromEntries(this.#marks);
  }
}
