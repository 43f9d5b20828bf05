import type { Dialect, Expression, Kysely, Transaction } from 'kysely';
import { DatabaseUnreachable } from '../core/errors.ts';
import type { System } from '../system.ts';
import type { Tables } from './tables.ts';
import type { Vault } from './vault.ts';

export interface Foundation {
  readonly db: Kysely<Tables>;
  readonly engine: Engine;
  readonly vault: Vault;
  /** An ID that is greater than every one that this process made before. */
  newId(): string;
}

export type Queries = Kysely<Tables> | Transaction<Tables>;

export interface Engine {
  readonly dialect: Dialect;
  /** Whether this process may change the schema now; if not, it has to find the schema current. */
  readonly mayMigrate: boolean;
  /** For migrations, which may take and wait longer than other statements; absent when they need nothing else. */
  readonly migrationDialect?: Dialect;
  /** The schema with the app's tables, where a database has several. */
  readonly schema?: string;
  /** The type of text that sorts and compares by its bytes. */
  readonly textType: string;
  /** Whether no other process can hold a lease, so that leases of a crashed process can be freed at the start. */
  readonly isSoleProcess: boolean;
  /** Whether a row that another transaction has locked can be skipped (`for update skip locked`). */
  readonly skipsLockedRows: boolean;
  /** The one clock of all processes that share the database. */
  readonly clock: Pick<System, 'now' | 'newId'>;
  /**
   * The moment `at` for a statement that compares leases, where `now` is this process's reading of the clock (both in epoch
   * milliseconds). Where processes of several machines share the database, only the distance counts: the database adds it
   * to its own time when it runs the statement.
   */
  moment(at: number, now: number): Expression<number>;
  /**
   * Runs the work as one serializable transaction. It may run the work several times, so the work does nothing outside
   * of the database.
   * @throws CommitUnknown when the connection was lost while it was committed; and what the work throws
   */
  transact<Result>(db: Kysely<Tables>, work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Removes deleted data from the engine's own files, as far as it can. */
  scrub(db: Kysely<Tables>): Promise<void>;
  /** A name beside the database's files, or where they would be by default; absent for a database in memory. */
  readonly besidePath?: (ending: string) => string;
  /** Called after the last query. */
  close(): Promise<void> | void;
}

export interface EngineOptions {
  /** Whether to hold the database against other processes for as long as it is open, where one process has it alone. */
  readonly lock: boolean;
  /**
   * Whether to refuse a database that doesn't exist yet: only the app and `store -- copy` create one. Default: without `lock`.
   * With both, no app may have the database open, even where several processes share it.
   */
  readonly mustExist?: boolean;
  /** How many processes share the server at most; absent: not set. */
  readonly maxProcesses?: number | undefined;
  readonly system: System;
}

/**
 * Locks a workspace by writing its row, until the transaction ends. Changes of its key, grants and settings do, and so do
 * confirmations and payments: each then comes before or after any other (docs/design.md 4.2).
 */
export async function lockWorkspace(trx: Queries, id: string): Promise<void> {
  await trx
    .updateTable('workspaces')
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id)
    .execute();
}

/** The address of a database without user and password. */
export function placeOfPostgres(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

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
