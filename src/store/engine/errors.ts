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
