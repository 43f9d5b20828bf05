/**
 * What waits, in one line for each caller; the lines are served in turn, so that a long one holds up no other caller
 * (docs/design.md 6).
 */
export class WaitingLines<Item> {
  /** The next line first; none is empty. */
  readonly #lines = new Map<string, Item[]>();

  add(caller: string, item: Item): void {
    const line = this.#lines.get(caller);
    if (line) line.push(item);
    else this.#lines.set(caller, [item]);
  }

  /** Takes the first of the next line; undefined when nothing waits. */
  take(): Item | undefined {
    for (const [caller, line] of this.#lines) {
      const item = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      return item;
    }
    return undefined;
  }
}
