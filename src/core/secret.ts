import { inspect } from 'node:util';

/** A value that prints as `[secret]` wherever it is logged, serialized or interpolated. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Returns the value itself. Only the files that `test/architecture.test.ts` lists may call it. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
