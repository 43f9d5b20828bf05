import type { Journal } from './journal.ts';

/** Up to which message each user has read each channel; what came later is unread. */
export class ReadMarks {
  readonly #journal: Journal;
  readonly #marks: Map<string, string>;

  constructor(journal: Journal, stored: Readonly<Record<string, string>> = {}) {
    this.#journal = journal;
    this.#marks = new Map(Object.entries(stored));
  }

  /** Moves forward only: a tab that lags behind makes nothing unread again. */
  mark(user: string, channel: string, ts: string): void {
    if (!/^\d+\.\d+$/.test(ts) || ts <= this.of(user, channel)) return;
    this.#marks.set(`${user}/${channel}`, ts);
    this.#journal.emit({ type: 'read', user });
  }

  /** The ts of the last message read; empty when there was none. */
  of(user: string, channel: string): string {
    return this.#marks.get(`${user}/${channel}`) ?? '';
  }

  snapshot(): Record<string, string> {
    return Object.fromEntries(this.#marks);
  }
}
