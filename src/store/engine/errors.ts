import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';

/** Another process is using this database file. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';

  constructor(path: string) {
    super(`The database ${path} is in use by another process of this app. Stop that one first.`);
  }
}

/** The database can't be used as it is; the message says why in a sentence for the operator. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/** There is no database, and this program doesn't create one. */
export class DatabaseMissing extends DatabaseUnusable {
  constructor(place: string) {
    super(`The app has no database at ${place}: correct DATABASE_URL, or start the app once to create one.`);
  }
}

/** The connection was lost while a transaction was committed: it was stored as a whole, or not at all. */
export class CommitUnknown extends DatabaseUnreachable {
  override readonly name = 'CommitUnknown';

  constructor(cause: unknown) {
    super(cause, 'the outcome of a commit is unknown');
  }
}
