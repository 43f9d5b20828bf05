/**
 * The database can't be reached, or the connection was lost: what it was asked for was done or not. `cause` says why, for the
 * operator alone.
 */
export class DatabaseUnreachable extends Error {
  override readonly name: string = 'DatabaseUnreachable';

  constructor(cause: unknown, words = cause instanceof Error ? cause.message : 'no answer') {
    super(words, { cause });
  }

  /** The code or the name of the cause, for the log: its message may contain what not everyone should read. */
  get reason(): string {
    const { cause } = this;
    if (!(cause instanceof Error)) return 'unknown';
    return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  }
}
