import { randomBytes } from 'node:crypto';

/** What the next page shows once, after a form was sent: a new key, or what was wrong with the form. */
export type Note =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'problem'; readonly words: string };

const MAX_WAITING = 50;

/** Notes between a form and the page it leads to. Each is shown once, so that a key is not in any later page. */
export class Notes {
  readonly #waiting = new Map<string, Note>();

  /** Keeps a note and returns the name under which the next page finds it. */
  add(note: Note): string {
    const name = randomBytes(12).toString('base64url');
    this.#waiting.set(name, note);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_WAITING) break;
      this.#waiting.delete(oldest);
    }
    return name;
  }

  /** Hands a note out and forgets it. */
  take(name: string | null): Note | undefined {
    if (name === null) return undefined;
    const note = this.#waiting.get(name);
    this.#waiting.delete(name);
    return note;
  }
}
