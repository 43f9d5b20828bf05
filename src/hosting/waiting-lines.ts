/**
 * What waits, in one line for each caller; the lines are served in turn, so that a long one holds up no other caller
 * (docs/design.md 6).
 */
export class WaitingLines<Item> {
  /** The next line first; none is empty. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  add(caller: string, item: Item): void {
    const line = this.#lines.get(caller);
    this.#size++;
    if (line) line.push(item);
    else this.#lines.set(caller, [item]);
  }

  get size(): number {
    return this.#size;
  }

  /** How many go before it, line after line in turn. */
  countBefore(caller: string, item: Item): number {
    const rounds = this.#lines.get(caller)?.indexOf(item) ?? 0;
    let before = 0;
    let isLater = false;
    for (const [each, line] of this.#lines) {
      if (each === caller) isLater = true;
      before += Math.min(line.length, each === caller || isLater ? rounds : rounds + 1);
    }
    return before;
  }

  /** Takes one out that has given up. */
  remove(caller: string, item: Item): void {
    const line = this.#lines.get(caller);
    const at = line?.indexOf(item) ?? -1;
    if (!line || at < 0) return;
    line.splice(at, 1);
    this.#size--;
    if (line.length === 0) this.#lines.delete(caller);
  }

  /** Takes the first of the next line; undefined when nothing waits. */
  take(): Item | undefined {
    for (const [caller, line] of this.#lines) {
      const item = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      this.#size--;
      return item;
    }
    return undefined;
  }
}
