import { open, rename } from 'node:fs/promises';

const DELAY_MS = 200;

/** Writes a file for its owner's eyes as a whole or not at all: whoever reads it finds the old text or the new. */
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

/** Whoever pastes an API key into the chat has it on the screen, but never on the disk. */
function maskKeys(_field: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/hk_[\w-]{16,}/g, 'hk_[masked]') : value;
}

/** Keeps a JSON file in step with something that changes often: it is written 200 ms after a change at the latest. */
export class StateFile {
  readonly #path: string;
  readonly #describe: () => unknown;
  #timer: NodeJS.Timeout | undefined;
  #isBehind = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, describe: () => unknown) {
    this.#path = path;
    this.#describe = describe;
  }

  /** Notes that what is kept has changed. */
  touch(): void {
    this.#isBehind = true;
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
    if (!this.#isBehind) return;
    this.#isBehind = false;
    try {
      await writeWhole(this.#path, `${JSON.stringify(this.#describe(), maskKeys)}\n`);
    } catch (error) {
      this.#isBehind = true;
      console.error(`${this.#path} can't be written: ${error instanceof Error ? error.message : 'unknown'}.`);
    }
  }
}
