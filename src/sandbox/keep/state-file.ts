import { open, rename } from 'node:fs/promises';

const DELAY_MS = 200;

/** Writes a private file completely or not at all: a reader finds either the old text or the new. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    // Before the rename, or a power cut could leave an empty file under the right name.
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** An API key that is pasted into the chat is shown there, but never written to the disk. */
function maskKeys(_field: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/hk_[\w-]{16,}/g, 'hk_[masked]') : value;
}

/** A JSON file of a state that changes often: it is written 200 ms after a change at the latest. */
export class StateFile {
  readonly #path: string;
  readonly #describe: () => unknown;
  #timer: NodeJS.Timeout | undefined;
  #isOutdated = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, describe: () => unknown) {
    this.#path = path;
    this.#describe = describe;
  }

  /** Marks the file as outdated. */
  touch(): void {
    this.#isOutdated = true;
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref();
  }

  /** Writes what has changed and resolves when it is on the disk. Never throws: a full disk must not stop a sandbox. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    try {
      await writeWhole(this.#path, `${JSON.stringify(this.#describe(), maskKeys)}\n`);
    } catch (error) {
      this.#isOutdated = true;
      const reason = error instanceof Error ? error.message : 'unknown';
      process.stderr.write(`${this.#path} can't be written: ${reason}.\n`);
    }
  }
}
