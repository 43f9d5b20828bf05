/** A view with its fields, and nothing near what would fill the memory. */
export const BODY_LIMIT_BYTES = 1024 * 1024;

export interface BodyLimits {
  /** How much all bodies hold together whose signature isn't checked yet. */
  readonly mostBytes: number;
  /** Bodies up to this length are never given up. So many for each connection have to fit into `mostBytes`. */
  readonly smallBytes: number;
}

/**
 * A signature can be checked only once its whole body is there, so anyone can make the app keep a body for as long as a
 * request may take. 32 MiB are a fraction of what the app needs anyway, and 1,000 connections with 16 KiB each, more than a
 * command or most presses have, are half of it.
 */
const LIMITS: BodyLimits = { mostBytes: 32 * 1024 * 1024, smallBytes: 16 * 1024 };

/** A command's body fits in, so its memory never has to grow. */
const FIRST_BYTES = 4096;

/** The bodies of one process that are still arriving, or whose signature isn't checked yet. */
export class UnverifiedBodies {
  readonly #limits: BodyLimits;
  /** The oldest first. */
  readonly #open = new Set<UnverifiedBody>();
  #heldBytes = 0;

  constructor(limits: BodyLimits = LIMITS) {
    this.#limits = limits;
  }

  /** How much memory they hold; more than the limit never, unless all of them are small. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** `giveUp` is called if its memory is needed for others: what has arrived of it is gone by then. */
  open(giveUp: () => void): UnverifiedBody {
    const body = new UnverifiedBody({
      onGrow: (bytes) => this.#grow(bytes),
      onRelease: (bytes) => {
        this.#heldBytes -= bytes;
        this.#open.delete(body);
      },
      giveUp,
    });
    this.#open.add(body);
    return body;
  }

  /**
   * Gives up the oldest of the large ones. Slack sends a body within milliseconds, so that one of Slack's would be given up
   * only if others sent `mostBytes` in that time; one that trickles in is always older.
   */
  #grow(bytes: number): void {
    const { mostBytes, smallBytes } = this.#limits;
    this.#heldBytes += bytes;
    for (const body of this.#open) {
      if (this.#heldBytes <= mostBytes) return;
      if (body.heldBytes > smallBytes) body.giveUp();
    }
  }
}

interface BodyParts {
  readonly onGrow: (bytes: number) => void;
  readonly onRelease: (bytes: number) => void;
  readonly giveUp: () => void;
}

/**
 * What has arrived of one body, in one piece of memory: thousands of parts of one byte each would cost two hundred times what
 * they say.
 */
export class UnverifiedBody {
  readonly #parts: BodyParts;
  #memory = Buffer.alloc(0);
  #length = 0;
  #isReleased = false;

  constructor(parts: BodyParts) {
    this.#parts = parts;
  }

  /** How much memory is taken for it. */
  get heldBytes(): number {
    return this.#memory.length;
  }

  /** How much of it has arrived, also after it was released. */
  get length(): number {
    return this.#length;
  }

  /** Adds a part, unless it has been released; releases it when it is too long. */
  add(part: Buffer): void {
    const end = this.#length + part.length;
    if (end > BODY_LIMIT_BYTES) this.release();
    if (!this.#isReleased) this.#makeRoom(end);
    // Making room may have released this body itself.
    if (!this.#isReleased) part.copy(this.#memory, this.#length);
    this.#length = end;
  }

  /** What has arrived; empty once it is released. */
  read(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  giveUp(): void {
    this.release();
    this.#parts.giveUp();
  }

  /** Its memory no longer counts; harmless when it has been released. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { heldBytes } = this;
    this.#memory = Buffer.alloc(0);
    this.#parts.onRelease(heldBytes);
  }

  #makeRoom(bytes: number): void {
    const before = this.#memory.length;
    if (bytes <= before) return;
    const doubled = Math.max(FIRST_BYTES, before * 2, 2 ** Math.ceil(Math.log2(bytes)));
    const grown = Buffer.allocUnsafeSlow(Math.min(doubled, BODY_LIMIT_BYTES));
    this.#memory.copy(grown);
    this.#memory = grown;
    this.#parts.onGrow(grown.length - before);
  }
}
